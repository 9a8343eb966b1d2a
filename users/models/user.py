"""Accounts: registration, changes, deactivation and deletion."""

import json
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from tripcompanion.api.problems import Conflict
from tripcompanion.currency.amounts import CODES
from tripcompanion.database.models import IdempotencyRecord
from users.emails import MAX_EMAIL_CHARS, email_key
from users.mail_templates import Letter
from users.models.access import Rights, Role
from users.models.conflicts import EmailTaken, LastAdmin, WrongPassword
from users.models.email_verification import VerifiableEmail
from users.models.lock import LockedAccount
from users.models.notices import NoticeMode, NoticeReader
from users.models.queryset import UserManager
from users.passwords import HashedPassword
from users.readers import sees_address_of
from users.signals import sessions_ended

if TYPE_CHECKING:
    from users.models.session import Session

MAX_NAME_CHARS = 50
#: How many former names are remembered.
MAX_FORMER_NAMES = 20
DELETED_NAME = "Deleted user"


class User(Rights, VerifiableEmail, NoticeReader, LockedAccount):
    """An account, or a guest: somebody without an account who is a member of one trip.

    Deletion erases the data of an account but keeps the row, which ledger entries refer to.
    """

    name = models.CharField(gettext_lazy("name"), max_length=MAX_NAME_CHARS, blank=True)
    email = models.CharField(  # noqa: DJ001 -- null once deleted
        gettext_lazy("email"), max_length=MAX_EMAIL_CHARS, unique=True, null=True
    )
    #: `email` in the form that is compared; null if deleted, so that the address can be reused.
    email_key = models.CharField(  # noqa: DJ001 -- null once deleted
        max_length=MAX_EMAIL_CHARS * 2, null=True, editable=False
    )
    #: When the owner confirmed `email`; null if not yet.
    email_verified_at = models.DateTimeField(
        gettext_lazy("email confirmed at"), null=True, editable=False
    )
    #: JSON: the names before, each with the time until which it was the name; the oldest first.
    former_names = models.TextField(default="", db_default="", editable=False)
    role = models.CharField(gettext_lazy("role"), max_length=5, choices=Role, default=Role.USER)
    profile_picture = models.CharField(  # noqa: DJ001 -- as in the API
        gettext_lazy("profile picture"), max_length=2048, null=True, blank=True
    )
    currency = models.CharField(
        gettext_lazy("currency"), max_length=3, default="EUR", choices=[(c, c) for c in CODES]
    )
    is_active = models.BooleanField(gettext_lazy("is active"), default=True)
    created_at = models.DateTimeField(
        gettext_lazy("created at"), default=timezone.now, editable=False
    )
    updated_at = models.DateTimeField(
        gettext_lazy("updated at"), default=timezone.now, editable=False
    )
    deleted_at = models.DateTimeField(gettext_lazy("deleted at"), null=True, editable=False)
    #: Guests are never active, so nothing that needs an account finds them.
    is_guest = models.BooleanField(
        gettext_lazy("is a guest"), default=False, db_default=False, editable=False
    )
    #: Whether others may add the account to trips; everybody can still invite it.
    may_be_added = models.BooleanField(
        gettext_lazy("may be added to trips"), default=True, db_default=True
    )
    #: Whether it was added to a trip in which it has not answered; see `Member.introduced_by`.
    is_unanswered = models.BooleanField(default=False, db_default=False, editable=False)
    #: How often all sessions were ended at once, in the API and in browsers.
    session_epoch = models.PositiveIntegerField(default=0, editable=False)
    #: The position of a replica from which on this account may read there; see `position.py`.
    wal_position = models.BigIntegerField(null=True, editable=False)

    objects = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        verbose_name = gettext_lazy("account")
        verbose_name_plural = gettext_lazy("accounts")
        constraints = [
            models.UniqueConstraint(fields=["email_key"], name="user_email_unique"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="user_role_known"
            ),
            models.CheckConstraint(
                condition=models.Q(notice_mode__in=NoticeMode.values),
                name="user_notice_mode_known",
            ),
            models.CheckConstraint(
                condition=models.Q(deleted_at=None)
                | models.Q(email=None, email_key=None, is_active=False),
                name="user_deleted_is_empty",
            ),
            models.CheckConstraint(
                condition=models.Q(is_guest=False)
                | models.Q(email=None, email_key=None, is_active=False, role=Role.USER),
                name="user_guest_has_no_account",
            ),
        ]
        indexes = [models.Index(fields=["created_at", "is_guest"], name="account_by_creation")]

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>" if self.email else self.shown_name

    @property
    def shown_name(self) -> str:
        """The name in the active language; only that of deleted accounts is translated."""
        return _("Deleted user") if self.name == DELETED_NAME else self.name

    @property
    def shown_email(self) -> str | None:
        """The address, or None if the reader of the response may not see it."""
        return self.email if not self.is_unanswered or sees_address_of(self.pk) else None

    def name_at(self, moment: datetime) -> str:
        """The name at a moment, so that what happened then is told with it."""
        for until, name in json.loads(self.former_names or "[]"):
            if moment < datetime.fromisoformat(until):
                return name
        return self.shown_name

    def rename(self, name: str) -> None:
        """Set the name, and remember the one before; the caller stores both."""
        if name != self.name:
            former = [*json.loads(self.former_names or "[]"), [str(timezone.now()), self.name]]
            self.former_names = json.dumps(former[-MAX_FORMER_NAMES:])
            self.name = name

    def hashed(self, password: str) -> HashedPassword:
        """Hash a new password for `change`. Call it before taking the lock: hashing is slow."""
        is_same = self.check_password(password)
        return HashedPassword(password, self.password, "" if is_same else make_password(password))

    @classmethod
    def register(cls, email: str, password: str, name: str = "", role: Role = Role.USER) -> "User":
        """Create an account; its name defaults to the part of the address before the @.

        Raises `EmailTaken`, also if two registrations race, and Django's `ValidationError` if
        `email` is not an address.
        """
        user = cls(email=email, email_key=email_key(email), role=role)
        user.name = name or email.rpartition("@")[0][:MAX_NAME_CHARS]
        user.set_password(password)
        with transaction.atomic():
            user._save_unless_taken()
            user.mails.ask_to_verify(user)
        return user

    @classmethod
    def create_guest(cls, name: str) -> "User":
        """Create a guest: a name, without anything to log in with."""
        guest = cls(name=name, is_guest=True, is_active=False)
        guest.set_unusable_password()
        guest.save()
        return guest

    def change(
        self,
        *,
        by: "User | None",
        password: HashedPassword | str | None = None,
        keep: "Session | None" = None,
        proof: str | None = None,
        **fields: Any,
    ) -> None:
        """Store the given fields only.

        A new password revokes all scoped tokens and ends all sessions but `keep`. Mails report a
        new password or address, and a new address must be confirmed. `proof` is the hash that the
        current password was verified against. Raises `EmailTaken`, `ValidationError` if the
        password has changed since, and what `locked` raises.
        """
        if isinstance(password, str):
            password = self.hashed(password)
        with self.locked(by=by) as account:
            account.require_password(proof, "currentPassword")
            old_email, names = account.email, account._set_fields(fields)
            if password is not None and password.is_new_to(account.password):
                account.password = password.encode()
                names.add("password")
                account._end_sessions(keep, by)
            account._save_unless_taken({*names, "updated_at"})
            if "password" in names and old_email:
                account.mails.tell(account, Letter.PASSWORD_CHANGED, old_email)
            if "email_verified_at" in names:
                account.mails.ask_to_verify(account)
                if old_email:
                    account.mails.tell(account, Letter.EMAIL_CHANGED, old_email)

    def _set_fields(self, fields: dict[str, Any]) -> set[str]:
        """Set `fields` and what depends on them; return the names of all fields to store."""
        names, old_key = set(fields), self.email_key
        if "name" in fields:
            self.rename(fields["name"])
            names.add("former_names")
        for name, value in fields.items():
            setattr(self, name, value)
        self.updated_at = timezone.now()
        if "email" in fields:
            self.email_key = email_key(fields["email"])
            names.add("email_key")
            if self.email_key != old_key:
                self.email_verified_at = None
                names.add("email_verified_at")
        return names

    def _end_sessions(self, keep: "Session | None", by: "User | None") -> None:
        """Revoke all scoped tokens and end all sessions but `keep`, after a new password."""
        kept = [keep.pk] if keep else []
        self.scoped_tokens.all().delete()
        self.sessions.active().exclude(pk__in=kept).end()
        self.sessions.filter(pk__in=kept).update(auth_hash=self.get_session_auth_hash())
        sessions_ended.send(User, account=self, by=by, is_reclaimed=False)

    def require_password(self, proof: str | None, field: str) -> None:
        """Raise `ValidationError` on `field` if the password is no longer the one of `proof`.

        `proof` is the hash that a password was verified against; None skips the check. Call it
        under the lock: two requests may have verified the same password at once.
        """
        if proof is not None and self.password != proof:
            raise WrongPassword(field)

    def reset_password(self, password: HashedPassword) -> None:
        """Set a password after a mailed link, which also confirms the address.

        All sessions and tokens end, even if the password is the old one.
        """
        with self.locked(by=None) as account:
            is_reclaimed = account.email_verified_at is None
            account.verify_email()
            account.change(by=None, password=password, session_epoch=account.session_epoch + 1)
            account.scoped_tokens.all().delete()
            account.sessions.active().end()
            sessions_ended.send(User, account=account, by=None, is_reclaimed=is_reclaimed)

    def ask_for_reset(self, *, by: "User | None") -> None:
        """Send the link that resets the password, if the account can be used."""
        with self.locked(by=by) as account:
            if account.email and account.is_active:
                account.mails.ask_for_reset(account.email)

    def _save_unless_taken(self, names: Iterable[str] | None = None) -> None:
        try:
            with transaction.atomic():
                self.save(update_fields=names)
        except IntegrityError as error:
            raise EmailTaken from error

    def deactivate(self, *, by: "User | None") -> None:
        """Deactivate the account, and end its sessions and scoped tokens for good."""
        with self.locked(by=by) as account:
            account.is_active = False
            account.save(update_fields=["is_active"])
            account.scoped_tokens.all().delete()
            account.log_out_everywhere(by=by)

    def log_out_everywhere(self, *, by: "User | None") -> None:
        """End all sessions, in the API and in browsers; scoped tokens stay valid."""
        with self.locked(by=by) as account:
            account.session_epoch += 1
            account.save(update_fields=["session_epoch"])
            account.sessions.active().end()
            sessions_ended.send(User, account=account, by=by, is_reclaimed=False)

    def empty(self) -> None:
        """Erase the personal data irreversibly; the row stays for the ledger of others.

        Raises `LastAdmin`. Call inside `locked`.
        """
        self.require_other_admin()
        self.name, self.email, self.email_key = DELETED_NAME, None, None
        self.former_names = ""
        self.profile_picture = None
        self.role = Role.USER
        self.notice_mode = NoticeMode.OFF
        self.is_unanswered = False
        self.is_active = False
        self.set_unusable_password()
        self.deleted_at = self.updated_at = timezone.now()
        self.email_verified_at = self.last_login = None
        self.save()
        for kept in (self.sessions, self.scoped_tokens, self.links, self.mails):
            kept.all().delete()
        IdempotencyRecord.objects.filter(user=self).delete()
        TOTPDevice.objects.filter(user=self).delete()
        StaticDevice.objects.filter(user=self).delete()

    def require_other_admin(self, refusal: type[Conflict] = LastAdmin) -> None:
        """Raise `refusal` if this is the only active ADMIN. Call inside a transaction.

        The rows of all administrators stay locked until its end, so the last two cannot leave at
        the same time.
        """
        if self.role == Role.ADMIN:
            admins = User.objects.active().filter(role=Role.ADMIN).order_by("pk")
            locked = admins.select_for_update(no_key=True)
            if not any(admin.pk != self.pk for admin in locked):
                raise refusal

    def get_session_auth_hash(self) -> str:
        """The hash that each session stores; it depends on the password and `session_epoch`."""
        return _log_in_hash(self.password, self.session_epoch)


@lru_cache(maxsize=2048)
def _log_in_hash(password: str, session_epoch: int) -> str:
    """The session hash, cached because every request computes it."""
    of_password = AbstractBaseUser.get_session_auth_hash(User(password=password))
    return salted_hmac("users.User.session", f"{of_password}:{session_epoch}").hexdigest()
