"""Sessions: one for each login through the API."""

import uuid
from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tripcompanion.compiled import CompiledQuery, Param
from users.models.conflicts import LogInAgain
from users.models.user import User, user_key

#: How recent a log-in must be to stand for the current password.
JUST_LOGGED_IN = timedelta(minutes=10)
MAX_DEVICE_CHARS = 200
MAX_ADDRESS_CHARS = 64


class SessionQuerySet(models.QuerySet["Session"]):
    def active(self) -> "SessionQuerySet":
        """Sessions that have neither ended nor expired."""
        return self.filter(ended_at=None, expires_at__gt=timezone.now())

    def of(self, user: User) -> "SessionQuerySet":
        """Sessions that still authenticate `user`."""
        return self.active().filter(user=user, auth_hash=user.get_session_auth_hash())

    def end(self) -> int:
        """End these sessions, which revokes their tokens; return how many had not ended yet."""
        return self.filter(ended_at=None).update(ended_at=timezone.now())


class Session(models.Model):
    """One login, and the family of its refresh tokens. Only the latest of these is valid.

    Every token contains the id of its session, so ending the session revokes them all.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = user_key("sessions")
    #: The `jti` of the valid refresh token; all earlier ones are used up.
    refresh_jti = models.CharField(max_length=32)
    #: The account's hash when the session started; the session ends once that changes.
    auth_hash = models.CharField(max_length=128)
    #: The `User-Agent` header of the login, and the IP address below.
    device = models.CharField(
        gettext_lazy("device"), max_length=MAX_DEVICE_CHARS, default="", db_default=""
    )
    address = models.CharField(
        gettext_lazy("IP address"), max_length=MAX_ADDRESS_CHARS, default="", db_default=""
    )
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    used_at = models.DateTimeField(gettext_lazy("last used at"), default=timezone.now)
    expires_at = models.DateTimeField(gettext_lazy("expires at"))
    ended_at = models.DateTimeField(gettext_lazy("ended at"), null=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        # For `manage.py prune`.
        verbose_name = gettext_lazy("session")
        verbose_name_plural = gettext_lazy("sessions")
        indexes: ClassVar = [
            models.Index(fields=["expires_at"], name="session_by_expiry"),
            models.Index(
                fields=["ended_at"], condition=Q(ended_at__isnull=False), name="session_by_end"
            ),
        ]

    def __str__(self) -> str:
        time = date_format(self.created_at, "SHORT_DATETIME_FORMAT")
        return _("%(user)s since %(time)s") % {"user": self.user.shown_name, "time": time}

    @classmethod
    def start(cls, user: User, device: str = "", address: str = "") -> "Session":
        """Start a session of `user`. Unprintable characters in `device` and `address` are removed.

        Raises `NotAuthenticated` if the account was deleted or deactivated, got another password or
        lost all its sessions since `user` was read.
        """
        with user.locked(by=user):
            return cls.objects.create(
                user=user,
                device=_printable(device)[:MAX_DEVICE_CHARS].strip(),
                address=_printable(address)[:MAX_ADDRESS_CHARS],
                refresh_jti=uuid.uuid4().hex,
                auth_hash=user.get_session_auth_hash(),
                expires_at=_refresh_expiry(),
            )

    def is_good(self) -> bool:
        """Whether tokens of this session are still valid. Reads `self.user`."""
        return (
            self.ended_at is None
            and self.expires_at > timezone.now()
            and self.user.is_active
            and constant_time_compare(self.auth_hash, self.user.get_session_auth_hash())
        )

    def renew(self, jti: str) -> bool:
        """Replace the refresh token `jti` with the next one; False if it was used before.

        A second use means that the token was copied, so it ends the session. Of any number of
        simultaneous uses, the conditional UPDATE succeeds for exactly one.
        """
        next_jti = uuid.uuid4().hex
        renewed = (
            Session.objects.active()
            .filter(pk=self.pk, refresh_jti=jti)
            .update(refresh_jti=next_jti, used_at=timezone.now(), expires_at=_refresh_expiry())
        )
        if not renewed:
            self.end()
            return False
        self.refresh_jti = next_jti
        return True

    def end(self) -> None:
        """End this session, which revokes its tokens."""
        Session.objects.filter(pk=self.pk).end()


def has_just_logged_in(user: User, auth: Any) -> bool:
    """Whether `user`, of a request with `auth`, logged in within `JUST_LOGGED_IN`, in any way."""
    at = auth.created_at if isinstance(auth, Session) else user.last_login
    return at is not None and at > timezone.now() - JUST_LOGGED_IN


def require_recent_log_in(user: User, auth: Any) -> None:
    """Raise `LogInAgain` unless `user` has just logged in."""
    if not has_just_logged_in(user, auth):
        raise LogInAgain(_("Please log in again first."))


def _printable(text: str) -> str:
    """`text` without control characters and others that cannot be stored or displayed."""
    return "".join(letter for letter in text if letter.isprintable()).strip()


@CompiledQuery
def sessions_of(pk: Param = Param("pk", models.UUIDField())) -> SessionQuerySet:
    """The session with this id, active or not, and its user."""
    return Session.objects.select_related("user").filter(pk=pk)


def _refresh_expiry() -> Any:
    return timezone.now() + timedelta(seconds=settings.REFRESH_TOKEN_LIFETIME)
