"""Scoped tokens for scripts: each covers the chosen scopes, never the account itself."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import models
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, NotFound

from tripcompanion.api.problems import LimitReached
from users.models.user import TokenLimits, User, user_key
from users.random_tokens import digest_of, new_token, require_lifetime
from users.scopes import all_scopes

#: The prefix of every token.
PREFIX = "tc_"
#: How many characters of a token are stored to tell it from others.
HINT_CHARS = len(PREFIX) + 5
MAX_TOKEN_NAME_CHARS = 100
MAX_ACTIVE_TOKENS = 50
DEFAULT_LIFETIME = timedelta(days=90)
MAX_LIFETIME = timedelta(days=365)


class InsufficientScope(APIException):
    """403 `insufficient_scope`: the token does not cover this request (RFC 6750, 3.1).

    `scope` is the scope that it needs; None means that no scoped token is accepted.
    """

    status_code = 403
    default_code = "insufficient_scope"
    default_detail = gettext_lazy("This requires a session; scoped tokens are not accepted.")

    def __init__(self, scope: str | None = None) -> None:
        text = _("The token lacks the scope %(scope)s.") % {"scope": scope} if scope else None
        super().__init__(text)
        words = [self.default_code, *(scope or "").split(":")]
        #: Its name in the OpenAPI document, because there is one for each scope.
        self.example_name = "_".join(filter(None, words))
        challenge = 'Bearer error="insufficient_scope"'
        self.headers = {"WWW-Authenticate": f'{challenge}, scope="{scope}"' if scope else challenge}


class ScopedTokenQuerySet(models.QuerySet["ScopedToken"]):
    def active(self) -> "ScopedTokenQuerySet":
        """Tokens that have not expired. Revoking a token deletes its row."""
        return self.filter(expires_at__gt=timezone.now())


class ScopedToken(models.Model):
    """A token for parts of the API, which acts for `user` but never as an ADMIN.

    The token itself is returned once and not stored. It is 32 random bytes, so storing its SHA-256
    is safe.
    """

    user = user_key("scoped_tokens")
    name = models.CharField(gettext_lazy("name"), max_length=MAX_TOKEN_NAME_CHARS)
    #: The first characters of the token.
    hint = models.CharField(gettext_lazy("begins with"), max_length=HINT_CHARS)
    #: SHA-256 of the token, in hexadecimal digits.
    digest = models.CharField(max_length=64, unique=True)
    #: Of `all_scopes`, in that order, separated by spaces.
    scope_words = models.TextField(gettext_lazy("scopes"))
    #: The only trip it gives access to. The token ends with it: null would give access to all.
    trip_id = models.BigIntegerField(gettext_lazy("trip"), null=True, blank=True, db_index=True)
    #: A hash of the password hash; a new password changes it and revokes the token.
    password_fingerprint = models.CharField(max_length=64)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    used_at = models.DateTimeField(gettext_lazy("last used at"), null=True)
    expires_at = models.DateTimeField(gettext_lazy("expires at"), db_index=True)

    objects = ScopedTokenQuerySet.as_manager()

    class Meta:
        verbose_name = gettext_lazy("scoped token")
        verbose_name_plural = gettext_lazy("scoped tokens")

    #: The token itself; set by `issue` only.
    token: str

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @classmethod
    def issue(
        cls,
        user: User,
        *,
        name: str,
        scopes: list[str],
        trip_id: int | None = None,
        expires_at: datetime | None = None,
        raw_token: str = "",
    ) -> "ScopedToken":
        """Create a token of `user` with `.token` set. `expires_at` defaults to `DEFAULT_LIFETIME`.

        It is a random one, unless `raw_token` is another one that nobody can guess.

        Raises `ValidationError` if `expires_at` is in the past or too late, `LimitReached`, and
        `NotAuthenticated` if the session of `user` has ended since.
        """
        raw_token = raw_token or new_token(PREFIX)
        issued = cls(user=user, name=name, trip_id=trip_id, hint=raw_token[:HINT_CHARS])
        issued.digest = digest_of(raw_token)
        issued.scope_words = " ".join(scope for scope in all_scopes() if scope in scopes)
        until = expires_at or issued.created_at + DEFAULT_LIFETIME
        issued.expires_at = require_lifetime(until, MAX_LIFETIME)
        # Under the lock, so that the limit holds.
        with user.locked(by=user) as owner:
            owner.scoped_tokens.filter(expires_at__lte=timezone.now()).delete()
            LimitReached.require_at_most(MAX_ACTIVE_TOKENS, owner.scoped_tokens.count() + 1)
            issued.password_fingerprint = _password_mark(owner)
            issued.save()
        issued.token = raw_token
        return issued

    @classmethod
    def revoke(cls, user: User, token_id: int) -> None:
        """Revoke an active token of `user`. Raises `NotFound`."""
        with user.locked(by=user) as owner:
            deleted, _rows = owner.scoped_tokens.active().filter(pk=token_id).delete()
            if not deleted:
                raise NotFound

    @classmethod
    def presented(cls, raw_token: str) -> "ScopedToken | None":
        """The row of this token, with its user, in one query; None if there is none."""
        return cls.objects.select_related("user").filter(digest=digest_of(raw_token)).first()

    def is_good(self) -> bool:
        """Whether it is valid, apart from `expires_at`. Reads `self.user`."""
        return self.user.is_active and constant_time_compare(
            self.password_fingerprint, _password_mark(self.user)
        )

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= timezone.now()

    @property
    def scopes(self) -> list[str]:
        return self.scope_words.split()

    @property
    def limits(self) -> TokenLimits:
        return TokenLimits(self.scopes, self.trip_id)

    def require(self, scope: str | None) -> None:
        """Raise `InsufficientScope` unless it has this scope; no token has the scope None."""
        if scope not in self.scopes:
            raise InsufficientScope(scope)

    @property
    def keys_apart(self) -> str:
        """A suffix that separates its idempotency keys from those of other tokens and sessions."""
        return f" token {self.pk}"


def _password_mark(user: User) -> str:
    return salted_hmac("users.ScopedToken", user.password, algorithm="sha256").hexdigest()


def require_scopes(user: User, scopes: Iterable[str]) -> None:
    """Raise `InsufficientScope` unless the token of the request, if there is one, has them all."""
    for scope in sorted(scopes):
        if not user.covers(scope):
            raise InsufficientScope(scope)
