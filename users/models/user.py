"""Accounts: registration, changes, deactivation and deletion."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self
from uuid import UUID

from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotAuthenticated, NotFound, PermissionDenied

from tripcompanion.api.problems import Conflict
from tripcompanion.currency.amounts import CODES
from tripcompanion.database.models import IdempotencyRecord
from users.emails import MAX_EMAIL_CHARS, email_key
from users.mail_templates import MailTemplate, first_notices
from users.models.conflicts import EmailTaken, LastAdmin, WrongPassword
from users.models.notices import NoticeMode
from users.passwords import HashedPassword, MaximumLengthValidator
from users.signals import admin_ended, sessions_ended

MIN_NAME_CHARS, MAX_NAME_CHARS = 2, 50
#: How many previous names are stored.
MAX_FORMER_NAMES = 20
DELETED_NAME = "Deleted user"

#: Whether it has all rights, and the only trip that it is confined to.
Access = tuple[bool, int | None]

#: Whether the reader of the next responses of this thread sees the address of an account, by its
#: id, that was added to a trip in which it has not answered. None: of no such account.
address_check: ContextVar[Callable[[int], bool] | None] = ContextVar("address_check", default=None)


class Role(models.TextChoices):
    """The role of an account in the whole service."""

    USER = "USER", gettext_lazy("User")
    ADMIN = "ADMIN", gettext_lazy("Administrator")


class Via(models.TextChoices):
    """How the caller of a command was authenticated."""

    SESSION = "session", gettext_lazy("logged in")
    TOKEN = "token", gettext_lazy("scoped token")
    ADMIN = "admin", gettext_lazy("admin site")
    #: A management command, or the service itself.
    SERVICE = "service", gettext_lazy("service")
    #: Not at all: it is in a file that somebody imported.
    IMPORT = "import", gettext_lazy("imported file")


class TokenLimits(NamedTuple):
    """What a scoped token limits the account to for the request."""

    scopes: list[str]
    #: The only trip that it gives access to; None means all.
    trip_id: int | None


class UserQuerySet(models.QuerySet["User"]):
    def active(self) -> "UserQuerySet":
        """Accounts that were neither deleted nor deactivated."""
        return self.filter(deleted_at=None, is_active=True)

    def lock(self, ids: Iterable[int], *, lock_admins: bool = False) -> dict[int, "User"]:
        """Lock the accounts with these ids until the transaction ends, and return them by id.

        With `lock_admins` the active administrators are locked too. One statement locks all rows in
        the order of their ids, so two transactions that need the same rows cannot deadlock. Guests
        are left out: the lock of their trip, which is taken later, is theirs.
        """
        wanted = models.Q(pk__in=list(ids))
        if lock_admins:
            wanted |= models.Q(role=Role.ADMIN, is_active=True)
        rows = self.filter(wanted, is_guest=False).order_by("pk").select_for_update(no_key=True)
        return {row.pk: row for row in rows}

    def locked(self, user_id: int) -> "User":
        """Lock the account until the transaction ends, and return it; raises `NotFound`.

        Nobody can change the account or add it to a trip meanwhile. Entries can still refer to it.
        """
        user = self.select_for_update(no_key=True).filter(pk=user_id).first()
        if user is None:
            raise NotFound
        return user


class UserManager(BaseUserManager.from_queryset(UserQuerySet)):  # type: ignore[misc]
    """Finds accounts by e-mail, and creates administrators from the command line."""

    def present(self) -> UserQuerySet:
        """Accounts that were not deleted."""
        return self.present_with_guests().filter(is_guest=False)

    def present_with_guests(self) -> UserQuerySet:
        """Accounts that were not deleted, and guests, who have no account."""
        return self.filter(deleted_at=None)

    def with_email(self, email: str) -> UserQuerySet:
        """The active account with this address, ignoring case, or none."""
        try:
            return self.active().filter(email_key=email_key(email))
        except ValidationError:
            return self.none()

    def get_by_natural_key(self, username: str | None) -> "User":
        """The account with this e-mail address; raises `User.DoesNotExist`."""
        try:
            return self.present().get(email_key=email_key(username or ""))
        except ValidationError as error:
            raise self.model.DoesNotExist from error

    def create_superuser(self, email: str, password: str, name: str = "") -> "User":
        """Create an ADMIN, for `manage.py createsuperuser`.

        Raises `ValidationError` if the address is invalid or the password too long to log in.
        """
        MaximumLengthValidator().validate(password)
        return self.model.register(email, password, name, role="ADMIN")


class User(AbstractBaseUser):
    """An account, or a guest: somebody without an account who is a member of one trip.

    Deletion erases the data of an account but keeps the row, which ledger entries refer to.
    What was read before the lock may be out of date once it is held: the account may have been
    deleted, and the caller deactivated, demoted or logged out. So a command on an account opens
    `locked`, which checks this again, and changes the instance that it yields. `save` refuses any
    other instance.
    """

    notice_mode = models.CharField(
        gettext_lazy("notices by mail"),
        max_length=5,
        choices=NoticeMode,
        default=NoticeMode.OFF,
        db_default=NoticeMode.OFF,
    )
    #: Keys of `Plugin.notices`, separated by spaces.
    notice_events = models.TextField(default=first_notices, blank=True, editable=False)
    #: The language of the request that last set the above.
    notice_language = models.CharField(max_length=7, default="en", db_default="en", editable=False)
    #: When notices were last written into a mail.
    noticed_at = models.DateTimeField(null=True, editable=False)
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
    #: JSON: previous names, each with the time until which it was used; the oldest first.
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
    #: Guests are never active, so queries for accounts do not find them.
    is_guest = models.BooleanField(
        gettext_lazy("is a guest"), default=False, db_default=False, editable=False
    )
    #: Whether others may add the account to trips; everybody can still invite it.
    may_be_added = models.BooleanField(
        gettext_lazy("may be added to trips"), default=True, db_default=True
    )
    #: Whether it is, or was, in a trip in which it has not answered; see `Member.introduced_by`.
    is_unanswered = models.BooleanField(default=False, db_default=False, editable=False)
    #: How often all sessions were ended at once, in the API and in browsers.
    session_epoch = models.PositiveIntegerField(default=0, editable=False)

    objects = UserManager()

    #: The limits of the scoped token of the request, if any; set by the authentication.
    by_token: TokenLimits | None = None
    #: The session that authenticated the request, if any; set by the authentication.
    by_session: UUID | None = None
    #: How the request was authenticated; set by the authentication and by the admin site.
    via = Via.SERVICE
    #: Whether this instance was yielded by `locked`, whose transaction is still open.
    _is_locked = False

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
                condition=models.Q(notice_mode__in=NoticeMode.values), name="user_notice_mode_known"
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
    def is_admin(self) -> bool:
        """Whether the account has all rights; never with a scoped token, not even an ADMIN."""
        return self.role == Role.ADMIN and self.is_active and self.by_token is None

    @property
    def confined_to(self) -> int | None:
        """The only trip that the scoped token gives access to; None means all."""
        return self.by_token.trip_id if self.by_token else None

    def covers(self, scope: str) -> bool:
        """Whether the scoped token of the request, if there is one, has this scope."""
        return self.by_token is None or scope in self.by_token.scopes

    @property
    def access(self) -> Access:
        """`is_admin` and `confined_to`, which decide what the account may see."""
        return self.is_admin, self.confined_to

    @property
    def is_staff(self) -> bool:
        """Whether the account may use the admin site."""
        return self.is_admin

    def has_perm(self, perm: str, obj: models.Model | None = None) -> bool:
        return self.is_admin

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_admin

    def hidden_from(self, viewer: "User", *, is_companion: bool) -> tuple[str, ...]:
        """The fields that `viewer` may not see, `*` for those of plugins.

        `is_companion`: whether they share a trip.
        """
        if viewer.pk == self.pk or viewer.is_admin:
            return ()
        private = ("role", "currency", "*", "may_be_added", "created_at", "updated_at")
        return private if is_companion else (*private, "email")

    @property
    def shown_name(self) -> str:
        """The name in the active language; only that of deleted accounts is translated."""
        return _("Deleted user") if self.name == DELETED_NAME else self.name

    @property
    def shown_email(self) -> str | None:
        """The address, or None if the reader of the response may not see it."""
        sees = address_check.get()
        return self.email if not self.is_unanswered or (sees and sees(self.pk)) else None

    def name_at(self, moment: datetime) -> str:
        """The name at a given time, so that past events are told with the names of their time."""
        for until, name in json.loads(self.former_names or "[]"):
            if moment < datetime.fromisoformat(until):
                return name
        return self.shown_name

    def rename(self, name: str) -> None:
        """Set the name, and add the previous one to the list; the caller stores both."""
        if name != self.name:
            former = [*json.loads(self.former_names or "[]"), [str(timezone.now()), self.name]]
            self.former_names = json.dumps(former[-MAX_FORMER_NAMES:])
            self.name = name

    def hashed(self, password: str) -> HashedPassword:
        """Hash a new password for `change`. Call it before taking the lock: hashing is slow."""
        is_same = self.check_password(password)
        return HashedPassword(password, self.password, "" if is_same else make_password(password))

    @classmethod
    def register(
        cls, email: str, password: HashedPassword | str, name: str = "", role: Role = Role.USER
    ) -> "User":
        """Create an account; its name defaults to the part of the address before the @.

        Raises `EmailTaken`, also if two registrations race, and Django's `ValidationError` if
        `email` is not an address.
        """
        user = cls(email=email, email_key=email_key(email), role=role)
        user.name = name or email.rpartition("@")[0][:MAX_NAME_CHARS]
        if isinstance(password, str):
            password = HashedPassword.of_nobody_yet(password)
        user.password = password.encode()
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
        keep: UUID | None = None,
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
            old_email, was_admin = account.email, account.is_admin
            names = account._set_fields(fields)
            if was_admin and not account.is_admin:
                admin_ended.send(User, account=account, by=by)
            if password is not None and password.is_new_to(account.password):
                account.password = password.encode()
                account.updated_at = timezone.now()
                names.add("password")
                account._end_sessions(keep, by)
            account._save_unless_taken({*names, "updated_at"})
            if "password" in names and old_email:
                account.mails.tell(account, MailTemplate.PASSWORD_CHANGED, old_email)
            if "email_verified_at" in names:
                account.mails.ask_to_verify(account)
                if old_email:
                    account.mails.tell(account, MailTemplate.EMAIL_CHANGED, old_email)

    def _set_fields(self, fields: dict[str, Any]) -> set[str]:
        """Set `fields` and what depends on them; return the names of all fields to store."""
        names, old_key = set(fields), self.email_key
        if any(getattr(self, name) != value for name, value in fields.items()):
            self.updated_at = timezone.now()
        if "name" in fields:
            self.rename(fields["name"])
            names.add("former_names")
        for name, value in fields.items():
            setattr(self, name, value)
        if "email" in fields:
            self.email_key = email_key(fields["email"])
            names.add("email_key")
            if self.email_key != old_key:
                self.email_verified_at = None
                names.add("email_verified_at")
        return names

    def _end_sessions(self, keep: UUID | None, by: "User | None") -> None:
        """Revoke all scoped tokens and end all sessions but `keep`, after a new password."""
        kept = [keep] if keep else []
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

    def ask_to_verify(self, *, by: "User | None") -> None:
        """Send the link that confirms the address, up to the hourly limit."""
        with self.locked(by=by) as account:
            account.mails.ask_to_verify(account)

    def verify_email(self) -> None:
        """Mark `email` as verified."""
        with self.locked(by=None) as account:
            if account.email_verified_at is None:
                account.email_verified_at = timezone.now()
                account.save(update_fields=["email_verified_at"])

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
        self.is_unanswered = self.is_active = False
        self.set_unusable_password()
        self.deleted_at = self.updated_at = timezone.now()
        self.email_verified_at = self.last_login = None
        self.save()
        for kept in (self.sessions, self.scoped_tokens, self.links, self.mails):
            kept.all().delete()
        IdempotencyRecord.objects.filter(user=self).delete()

    def require_other_admin(self, refusal: type[Conflict] = LastAdmin) -> None:
        """Raise `refusal` if this is the only active ADMIN. Call inside a transaction.

        The rows of all administrators stay locked until it ends, so the last two cannot leave at
        the same time.
        """
        if self.role == Role.ADMIN:
            admins = User.objects.active().filter(role=Role.ADMIN).order_by("pk")
            locked = admins.select_for_update(no_key=True)
            if not any(admin.pk != self.pk for admin in locked):
                raise refusal

    @property
    def may_want_notices(self) -> bool:
        """Whether the signal `happened` is worth sending; what receives it checks the rest."""
        return self.notice_mode != NoticeMode.OFF

    @contextmanager
    def locked(
        self, *, by: "User | None", as_admin: bool = False, lock_admins: bool = False
    ) -> Iterator[Self]:
        """Open a transaction, lock this account, and yield a fresh instance of it.

        Every command on an account runs inside this block and changes the yielded instance, since
        this one may be out of date. At the end this instance gets the stored values.

        `by` is the caller as the request authenticated them; None is the service itself. They must
        be an ADMIN if the account is not their own or if `as_admin` is set. `lock_admins` is for
        `require_other_admin`. Raises `NotAuthenticated` if the caller's session has ended since,
        `PermissionDenied` if they are not an ADMIN, and `NotFound` if the account is deleted or is
        a guest.
        """
        if self._is_locked:
            yield self
            return
        with transaction.atomic():
            ids = {self.pk} if by is None else {self.pk, by.pk}
            rows = User.objects.lock(ids, lock_admins=lock_admins)
            if by is not None:
                caller = rows.get(by.pk)
                if caller is None or not _is_still_logged_in(caller, by):
                    raise NotAuthenticated
                is_admin = caller.is_admin and by.by_token is None
                if (as_admin or by.pk != self.pk) and not is_admin:
                    raise PermissionDenied
            account = rows.get(self.pk)
            if account is None or account.deleted_at is not None:
                raise NotFound
            account._is_locked = True
            try:
                yield account
            finally:
                account._is_locked = False
        for field in self._meta.concrete_fields:
            setattr(self, field.attname, getattr(account, field.attname))

    @contextmanager
    def just_created(self) -> Iterator[None]:
        """Until the end of the block, `locked` does not lock this account.

        This is for the transaction that has created the account, which nobody else sees yet. Citus
        locks all users when it locks one, so two transactions that lock what they have created
        would wait for each other.
        """
        self._is_locked = True
        try:
            yield
        finally:
            self._is_locked = False

    def save(self, **options: Any) -> None:
        """Store a new account, or an instance that `locked` has yielded; refuse any other."""
        if not self._state.adding and not self._is_locked:
            raise transaction.TransactionManagementError("Change an account inside `locked`.")
        super().save(**options)

    def check_password(self, raw_password: str | None) -> bool:
        """Whether this is the password. A hash with outdated parameters is replaced."""

        def upgrade(raw_password: str) -> None:
            # Replace only the hash that was verified: the password may have changed meanwhile.
            encoded = make_password(raw_password)
            verified = type(self)._default_manager.filter(pk=self.pk, password=self.password)
            if verified.update(password=encoded):
                self.password = encoded

        return check_password(raw_password, self.password, upgrade)

    def get_session_auth_hash(self) -> str:
        """The hash that each session stores; it depends on the password and `session_epoch`."""
        return _log_in_hash(self.password, self.session_epoch)


def user_key(related_name: str, **options: Any) -> "models.ForeignKey[User, User]":
    """The column of the account in rows that are deleted with it."""
    return models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        related_name=related_name,
        verbose_name=gettext_lazy("user"),
        **options,
    )


@lru_cache(maxsize=2048)
def _log_in_hash(password: str, session_epoch: int) -> str:
    """The session hash, cached because every request computes it."""
    of_password = AbstractBaseUser.get_session_auth_hash(User(password=password))
    return salted_hmac("users.User.session", f"{of_password}:{session_epoch}").hexdigest()


def _is_still_logged_in(caller: User, by: User) -> bool:
    """Whether the session of `by` is still valid; `caller` is the same account under the lock.

    Whatever ends all sessions of an account changes its hash. A password change can keep one
    session, which gets the new hash, so the session's row is checked too.
    """
    if not caller.is_active:
        return False
    auth_hash = caller.get_session_auth_hash()
    if auth_hash == by.get_session_auth_hash():
        return True
    if by.by_session is None:
        return False
    return caller.sessions.active().filter(pk=by.by_session, auth_hash=auth_hash).exists()
