"""The log-ins that are alive on an account."""

import uuid
from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from tripcompanion.kit.prepared import Given, Prepared
from users.models.user import User

#: How exact `used_at` is: a use is noted if the last one that was is older than this.
NOTED_EVERY = timedelta(minutes=10)
MAX_DEVICE_CHARS = 200
MAX_ADDRESS_CHARS = 64


class SessionQuerySet(models.QuerySet["Session"]):
    def live(self) -> "SessionQuerySet":
        """Log-ins that were neither ended nor left to expire."""
        return self.filter(ended_at=None, expires_at__gt=timezone.now())

    def of(self, user: User) -> "SessionQuerySet":
        """Log-ins with which `user` can still come in."""
        return self.live().filter(user=user, auth_hash=user.get_session_auth_hash())

    def end(self) -> int:
        """Make every token of these log-ins worthless; how many were alive."""
        return self.filter(ended_at=None).update(ended_at=timezone.now())


class Session(models.Model):
    """One log-in: the family of its refresh tokens, of which only the latest is good.

    Every access token names its session, so ending the row ends them all at once.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions")
    #: The `jti` of the refresh token that may be used next; all earlier ones are spent.
    refresh_jti = models.CharField(max_length=32)
    #: Changes with the password, however that is changed; a session with another one is dead.
    auth_hash = models.CharField(max_length=128)
    #: What the client called itself (`User-Agent`) at the log-in, and where it came from.
    device = models.CharField(max_length=MAX_DEVICE_CHARS, default="", db_default="")
    address = models.CharField(max_length=MAX_ADDRESS_CHARS, default="", db_default="")
    created_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        # `manage.py prune` finds by these what is over.
        indexes: ClassVar = [
            models.Index(fields=["expires_at"], name="session_by_expiry"),
            models.Index(
                fields=["ended_at"], condition=Q(ended_at__isnull=False), name="session_by_end"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} since {self.created_at:%Y-%m-%d %H:%M}"

    @classmethod
    def start(cls, user: User, device: str = "", address: str = "") -> "Session":
        """A new log-in of `user`; of `device` and `address` only what can be shown is kept.

        Raises `NotAuthenticated` if the account was deleted, barred or given another password
        since `user` was read, or if all of its log-ins were ended.
        """
        with user.locked(by=user):
            return cls.objects.create(
                user=user,
                device=_showable(device)[:MAX_DEVICE_CHARS].strip(),
                address=_showable(address)[:MAX_ADDRESS_CHARS],
                refresh_jti=uuid.uuid4().hex,
                auth_hash=user.get_session_auth_hash(),
                expires_at=_refresh_expiry(),
            )

    def is_good(self) -> bool:
        """Whether tokens of this log-in are still worth anything. Reads `self.user`."""
        return (
            self.ended_at is None
            and self.expires_at > timezone.now()
            and self.user.is_active
            and constant_time_compare(self.auth_hash, self.user.get_session_auth_hash())
        )

    def renew(self, jti: str) -> bool:
        """Spend the refresh token `jti` for the next one; False if it was spent before.

        A second use means that somebody copied the token, so it ends the whole session. Of any
        number of simultaneous uses the conditional UPDATE lets exactly one through.
        """
        next_jti = uuid.uuid4().hex
        renewed = (
            Session.objects.live()
            .filter(pk=self.pk, refresh_jti=jti)
            .update(refresh_jti=next_jti, used_at=timezone.now(), expires_at=_refresh_expiry())
        )
        if not renewed:
            self.end()
            return False
        self.refresh_jti = next_jti
        return True

    def note_use(self) -> None:
        """Note that it was used just now, if that was not noted for `NOTED_EVERY`."""
        now = timezone.now()
        if self.used_at <= now - NOTED_EVERY:
            Session.objects.filter(pk=self.pk, used_at=self.used_at).update(used_at=now)

    def end(self) -> None:
        """Make every token of this log-in worthless."""
        Session.objects.filter(pk=self.pk).end()


def _showable(text: str) -> str:
    """`text` without control characters, and what cannot be stored or shown."""
    return "".join(letter for letter in text if letter.isprintable()).strip()


@Prepared
def sessions_of(pk: Given = Given("pk", models.UUIDField())) -> SessionQuerySet:
    """The log-in of this id, alive or not, with its user."""
    return Session.objects.select_related("user").filter(pk=pk)


def _refresh_expiry() -> Any:
    return timezone.now() + timedelta(seconds=settings.REFRESH_TOKEN_LIFETIME)
