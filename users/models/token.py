"""Tokens for scripts: each covers what its owner ticked, and nothing of the account."""

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from django.db import models
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound, ValidationError

from tripcompanion.kit.problems import InsufficientScope, LimitReached
from users.models.session import NOTED_EVERY
from users.models.user import User
from users.scopes import Scope

#: What every token begins with, so that people and programs that look for leaks know one.
PREFIX = "tc_"
#: How much of a token is kept to tell it from others.
HINT_CHARS = len(PREFIX) + 5
MAX_TOKEN_NAME_CHARS = 100
MAX_LIVE_TOKENS = 50
DEFAULT_LIFETIME = timedelta(days=90)
MAX_LIFETIME = timedelta(days=365)

_RANDOM_BYTES = 32


class ScopedTokenQuerySet(models.QuerySet["ScopedToken"]):
    def live(self) -> "ScopedTokenQuerySet":
        """Tokens that have not expired. Whoever ends one deletes its row."""
        return self.filter(expires_at__gt=timezone.now())


class ScopedToken(models.Model):
    """A key to parts of the API, which acts for `user` and never as an ADMIN.

    The token itself is shown once and not kept: it is 32 random bytes, so its SHA-256 is enough.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="scoped_tokens")
    name = models.CharField(max_length=MAX_TOKEN_NAME_CHARS)
    #: The first characters of the token.
    hint = models.CharField(max_length=HINT_CHARS)
    #: SHA-256 of the token, in hexadecimal digits.
    digest = models.CharField(max_length=64, unique=True)
    #: Words of `Scope`, in their order there, with blanks between.
    scope_words = models.CharField(max_length=200)
    #: Nothing else can be seen with it. It goes with the trip: without one it would see all.
    trip = models.ForeignKey(
        "trips.Trip", on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    #: Changes with the password, however that is changed; a token with another one is dead.
    password_mark = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(db_index=True)

    objects = ScopedTokenQuerySet.as_manager()

    #: The whole token, in the answer to the one who made it.
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
    ) -> "ScopedToken":
        """A new token of `user` with `.token` set; good for `DEFAULT_LIFETIME` unless said else.

        Raises `ValidationError` if it would live not at all or too long, `LimitReached`, and
        `NotAuthenticated` if the log-in of `user` has ended since.
        """
        raw_token = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        made = cls(user=user, name=name, trip_id=trip_id, hint=raw_token[:HINT_CHARS])
        made.digest = _digest(raw_token)
        made.scope_words = " ".join(scope for scope in Scope if scope in scopes)
        made.expires_at = _require_lifetime(expires_at or made.created_at + DEFAULT_LIFETIME)
        # One at a time, so that the limit holds.
        with user.locked(by=user) as owner:
            owner.scoped_tokens.filter(expires_at__lte=timezone.now()).delete()
            if owner.scoped_tokens.count() >= MAX_LIVE_TOKENS:
                raise LimitReached(limit=MAX_LIVE_TOKENS)
            made.password_mark = _password_mark(owner)
            made.save()
        made.token = raw_token
        return made

    @classmethod
    def revoke(cls, user: User, token_id: int) -> None:
        """End a live token of `user` at once. Raises `NotFound`."""
        with user.locked(by=user) as owner:
            deleted, _rows = owner.scoped_tokens.live().filter(pk=token_id).delete()
            if not deleted:
                raise NotFound

    @classmethod
    def presented(cls, raw_token: str) -> "ScopedToken | None":
        """The token that this text is, with its user, in one query; None if there is none."""
        return cls.objects.select_related("user").filter(digest=_digest(raw_token)).first()

    def is_good(self) -> bool:
        """Whether it still opens anything, but for `expires_at`. Reads `self.user`."""
        return self.user.is_active and constant_time_compare(
            self.password_mark, _password_mark(self.user)
        )

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= timezone.now()

    @property
    def scopes(self) -> list[str]:
        return self.scope_words.split()

    def require(self, scope: str | None) -> None:
        """Raise `InsufficientScope` unless it has this scope; none has None."""
        if scope not in self.scopes:
            raise InsufficientScope(scope)

    @property
    def keys_apart(self) -> str:
        """Keeps the idempotency keys of its requests apart from those of others."""
        return f" token {self.pk}"

    def note_use(self) -> None:
        """Note that it was used just now, if that was not noted for `NOTED_EVERY`."""
        now = timezone.now()
        if self.used_at is None or self.used_at <= now - NOTED_EVERY:
            ScopedToken.objects.filter(pk=self.pk, used_at=self.used_at).update(used_at=now)


def _digest(raw_token: str) -> str:
    return sha256(raw_token.encode()).hexdigest()


def _password_mark(user: User) -> str:
    return salted_hmac("users.ScopedToken", user.password, algorithm="sha256").hexdigest()


def _require_lifetime(expires_at: datetime) -> datetime:
    now = timezone.now()
    if not now < expires_at <= now + MAX_LIFETIME:
        text = _("Must be in the future, and at most %(days)s days from now.")
        raise ValidationError({"expiresAt": [text % {"days": MAX_LIFETIME.days}]})
    return expires_at
