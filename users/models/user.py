"""Accounts: registered, changed, deactivated, emptied."""

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import PermissionDenied, ValidationError

from tripcompanion.kit.currencies import CODES
from tripcompanion.kit.models import GivenAnswer
from tripcompanion.kit.problems import Conflict
from users.emails import MAX_EMAIL_CHARS, email_key
from users.letters import Letter
from users.models.gate import LockedAccount
from users.models.queryset import UserManager
from users.passwords import HashedPassword

if TYPE_CHECKING:
    from users.models.session import Session

MAX_NAME_CHARS = 50
DELETED_NAME = "Deleted user"
_SUMMARY = ("name", "email", "profile_picture")


class EmailTaken(Conflict):
    """409 `email_taken`: another account has this address."""

    default_code = "email_taken"
    default_detail = gettext_lazy("This e-mail address is already in use.")


class LastAdmin(Conflict):
    """409 `last_admin`: somebody must be left who can administer."""

    default_code = "last_admin"
    default_detail = gettext_lazy("The last administrator cannot be deleted.")


class WrongPassword(ValidationError):
    """400: what was typed as the current password on `field` is another."""

    def __init__(self, field: str) -> None:
        super().__init__({field: [_("This is not the current password.")]})


class EmailUnverified(PermissionDenied):
    """403 `email_unverified`: the account's address must be confirmed first."""

    default_code = "email_unverified"
    default_detail = gettext_lazy("Please confirm your e-mail address first.")


class Role(models.TextChoices):
    """What an account may do beside its trips."""

    USER = "USER", gettext_lazy("User")
    ADMIN = "ADMIN", gettext_lazy("Administrator")


def summary_of(path: str) -> tuple[str, ...]:
    """The columns by which the person at `path` appears inside other objects, for `only`."""
    return tuple(f"{path}__{name}" for name in _SUMMARY)


class User(LockedAccount):
    """A person with a log-in. Deleting one empties the row and keeps it: others' books name it."""

    name = models.CharField(max_length=MAX_NAME_CHARS, blank=True)
    email = models.CharField(max_length=MAX_EMAIL_CHARS, unique=True, null=True)  # noqa: DJ001
    #: `email` as it is compared; null in deleted accounts, so that the address is free again.
    email_key = models.CharField(  # noqa: DJ001
        max_length=MAX_EMAIL_CHARS * 2, null=True, editable=False
    )
    #: Since when the owner is known to read mails to `email`; null if that was not shown.
    email_verified_at = models.DateTimeField(null=True, editable=False)
    role = models.CharField(max_length=5, choices=Role, default=Role.USER)
    profile_picture = models.CharField(max_length=2048, null=True, blank=True)  # noqa: DJ001
    currency = models.CharField(max_length=3, default="EUR", choices=[(c, c) for c in CODES])
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)
    #: Counts how often all log-ins were ended at once, in the API and in browsers.
    log_in_era = models.PositiveIntegerField(default=0, editable=False)

    objects = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["email_key"], name="user_email_unique"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="user_role_known"
            ),
            models.CheckConstraint(
                condition=models.Q(deleted_at=None)
                | models.Q(email=None, email_key=None, is_active=False),
                name="user_deleted_is_empty",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>" if self.email else self.name

    def hashed(self, password: str) -> HashedPassword:
        """A new password for `change`. Call before the lock is taken: hashing takes long."""
        is_same = self.check_password(password)
        return HashedPassword(password, self.password, "" if is_same else make_password(password))

    @classmethod
    def register(cls, email: str, password: str, name: str = "", role: Role = Role.USER) -> "User":
        """A new account, named after the part before the @ if no name is given.

        Raises `EmailTaken` also when two registrations race, and Django's
        `ValidationError` if `email` is no address.
        """
        user = cls(email=email, email_key=email_key(email), role=role)
        user.name = name or email.rpartition("@")[0][:MAX_NAME_CHARS]
        user.set_password(password)
        with transaction.atomic():
            user._save_unless_taken()
            user.mails.ask_to_verify(user)
        return user

    def change(
        self,
        *,
        by: "User | None",
        password: HashedPassword | str | None = None,
        keep: "Session | None" = None,
        proof: str | None = None,
        **fields: Any,
    ) -> None:
        """Store the given fields only; `password` ends every scoped token, and log-in but `keep`.

        A new password and a new address are told by mail, and a new address is to be confirmed.
        `proof` is the hash that the current password was verified against. Raises `EmailTaken`,
        `ValidationError` if the password was changed since, and what `locked` raises.
        """
        if isinstance(password, str):
            password = self.hashed(password)
        with self.locked(by=by) as account:
            account.require_password(proof, "currentPassword")
            old_email, names = account.email, account._set_fields(fields)
            if password is not None and password.is_new_to(account.password):
                account.password = password.encode()
                names.add("password")
                account._end_log_ins(keep)
            account._save_unless_taken({*names, "updated_at"})
            if "password" in names and old_email:
                account.mails.tell(account, Letter.PASSWORD_CHANGED, old_email)
            if "email_verified_at" in names:
                account.mails.ask_to_verify(account)
                if old_email:
                    account.mails.tell(account, Letter.EMAIL_CHANGED, old_email)

    def _set_fields(self, fields: dict[str, Any]) -> set[str]:
        """Set `fields` and what follows from them; the names of all that has to be stored."""
        names, old_key = set(fields), self.email_key
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

    def _end_log_ins(self, keep: "Session | None") -> None:
        """End every scoped token, and every log-in but `keep`, after a change of the password."""
        kept = [keep.pk] if keep else []
        self.scoped_tokens.all().delete()
        self.sessions.live().exclude(pk__in=kept).end()
        self.sessions.filter(pk__in=kept).update(auth_hash=self.get_session_auth_hash())

    def require_password(self, proof: str | None, field: str) -> None:
        """Raise `ValidationError` on `field` if the password is not the one of `proof` any more.

        `proof` is the hash that a password was verified against; None is no question. Call under
        the lock: two requests may have verified the same password at once.
        """
        if proof is not None and self.password != proof:
            raise WrongPassword(field)

    def reset_password(self, password: HashedPassword) -> None:
        """A password for who had lost theirs: all log-ins and tokens end, even if it is the old."""
        with self.locked(by=None) as account:
            account.change(by=None, password=password, log_in_era=account.log_in_era + 1)
            account.scoped_tokens.all().delete()
            account.sessions.live().end()

    def ask_to_verify(self, *, by: "User | None") -> None:
        """Send the link that confirms the address, unless it was sent often enough just now."""
        with self.locked(by=by) as account:
            account.mails.ask_to_verify(account)

    def verify_email(self) -> None:
        """Note that the owner reads mails to `email`."""
        with self.locked(by=None) as account:
            if account.email_verified_at is None:
                account.email_verified_at = timezone.now()
                account.save(update_fields=["email_verified_at"])

    def require_verified_email(self) -> None:
        """Raise `EmailUnverified` where the settings ask for a confirmed address."""
        if settings.REQUIRE_VERIFIED_EMAIL and self.email_verified_at is None:
            raise EmailUnverified

    def _save_unless_taken(self, names: Iterable[str] | None = None) -> None:
        try:
            with transaction.atomic():
                self.save(update_fields=names)
        except IntegrityError as error:
            raise EmailTaken from error

    def deactivate(self, *, by: "User | None") -> None:
        """Bar the account; log-ins and scoped tokens stay dead when it is let in again."""
        with self.locked(by=by) as account:
            account.is_active = False
            account.save(update_fields=["is_active"])
            account.scoped_tokens.all().delete()
            account.log_out_everywhere(by=by)

    def log_out_everywhere(self, *, by: "User | None") -> None:
        """End every log-in, in the API and in browsers; scoped tokens live on."""
        with self.locked(by=by) as account:
            account.log_in_era += 1
            account.save(update_fields=["log_in_era"])
            account.sessions.live().end()

    def empty(self) -> None:
        """Forget who this was; the row stays for the books of others. Not undone.

        Raises `LastAdmin`. Call inside `locked`.
        """
        self.require_other_admin()
        self.name, self.email, self.email_key = DELETED_NAME, None, None
        self.profile_picture = None
        self.role = Role.USER
        self.is_active = False
        self.set_unusable_password()
        self.deleted_at = self.updated_at = timezone.now()
        self.email_verified_at = self.last_login = None
        self.save()
        for kept in (self.sessions, self.scoped_tokens, self.links, self.mails):
            kept.all().delete()
        GivenAnswer.objects.filter(user=self).delete()

    def require_other_admin(self, refusal: type[Conflict] = LastAdmin) -> None:
        """Raise `refusal` if nobody else can administer. Call inside a transaction.

        The rows of all administrators stay locked until its end, so that no two of them go.
        """
        if self.role == Role.ADMIN:
            admins = User.objects.active().filter(role=Role.ADMIN).order_by("pk")
            locked = admins.select_for_update(no_key=True)
            if not any(admin.pk != self.pk for admin in locked):
                raise refusal

    def get_session_auth_hash(self) -> str:
        """What a log-in was made with; it changes with the password and with `log_in_era`."""
        return _log_in_hash(self.password, self.log_in_era)

    @property
    def is_admin(self) -> bool:
        """Whether all doors are open. With a scoped token an ADMIN is like everybody else."""
        return self.role == Role.ADMIN and self.is_active and self.by_token is None

    @property
    def confined_to(self) -> int | None:
        """The one trip that a scoped token leaves to see; None is no such limit."""
        return self.by_token.trip_id if self.by_token else None

    @property
    def is_staff(self) -> bool:
        """The admin site's word for who may enter it."""
        return self.is_admin

    def has_perm(self, perm: str, obj: models.Model | None = None) -> bool:
        return self.is_admin

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_admin

    def hidden_from(self, viewer: "User", *, is_companion: bool) -> tuple[str, ...]:
        """Which fields `viewer` does not get to see; `is_companion` says they share a trip."""
        if viewer.pk == self.pk or viewer.is_admin:
            return ()
        private = ("role", "currency", "created_at", "updated_at")
        return private if is_companion else (*private, "email")


@lru_cache(maxsize=2048)
def _log_in_hash(password: str, log_in_era: int) -> str:
    """Every request asks for the one of its caller; it follows from these two alone."""
    of_password = AbstractBaseUser.get_session_auth_hash(User(password=password))
    return salted_hmac("users.User.session", f"{of_password}:{log_in_era}").hexdigest()
