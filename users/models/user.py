"""Accounts: registered, changed, deactivated, emptied."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, PermissionDenied

from tripcompanion.kit.currencies import CODES
from tripcompanion.kit.models import GivenAnswer
from tripcompanion.kit.problems import Conflict
from users.emails import MAX_EMAIL_CHARS, email_key
from users.letters import Letter
from users.passwords import MaximumLengthValidator

if TYPE_CHECKING:
    from users.models.session import Session
    from users.models.token import ScopedToken

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


class EmailUnverified(PermissionDenied):
    """403 `email_unverified`: the account's address must be confirmed first."""

    default_code = "email_unverified"
    default_detail = gettext_lazy("Please confirm your e-mail address first.")


class Role(models.TextChoices):
    """What an account may do beside its trips."""

    USER = "USER", gettext_lazy("User")
    ADMIN = "ADMIN", gettext_lazy("Administrator")


class UserQuerySet(models.QuerySet["User"]):
    def active(self) -> "UserQuerySet":
        """Accounts that were neither deleted nor barred."""
        return self.filter(deleted_at=None, is_active=True)

    def locked(self, user_id: int) -> "User":
        """The account, its row locked until the transaction ends; raises `NotFound`.

        With it held, the account stays what it is and joins no trip; entries may name it.
        """
        user = self.select_for_update(no_key=True).filter(pk=user_id).first()
        if user is None:
            raise NotFound
        return user


class UserManager(BaseUserManager.from_queryset(UserQuerySet)):  # type: ignore[misc]
    """Finds accounts by e-mail, and makes the first administrator from the command line."""

    def present(self) -> UserQuerySet:
        """Accounts that were not deleted."""
        return self.filter(deleted_at=None)

    def with_email(self, email: str) -> UserQuerySet:
        """The active account of this address, compared without regard to case, or none."""
        try:
            return self.active().filter(email_key=email_key(email))
        except ValidationError:
            return self.none()

    def get_by_natural_key(self, username: str | None) -> "User":
        """The account that a log-in names; raises `User.DoesNotExist`."""
        try:
            return self.present().get(email_key=email_key(username or ""))
        except ValidationError as error:
            raise self.model.DoesNotExist from error

    def create_superuser(self, email: str, password: str, name: str = "") -> "User":
        """An ADMIN, for `manage.py createsuperuser`.

        Raises `ValidationError` on a bad address, and on a password that is too long to log in.
        """
        MaximumLengthValidator().validate(password)
        user = User.register(email, password, name)
        user.role = Role.ADMIN
        user.save(update_fields=["role"])
        return user


def summary_of(path: str) -> tuple[str, ...]:
    """The columns by which the person at `path` appears inside other objects, for `only`."""
    return tuple(f"{path}__{name}" for name in _SUMMARY)


class User(AbstractBaseUser):
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

    #: What a request came with, if that was a scoped token; set by the authentication.
    by_token: "ScopedToken | None" = None

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

    @classmethod
    def register(cls, email: str, password: str, name: str = "") -> "User":
        """A new USER, named after the part before the @ if no name is given.

        Raises `EmailTaken` also when two registrations race, and Django's
        `ValidationError` if `email` is no address.
        """
        user = cls(email=email, email_key=email_key(email))
        user.name = name or email.rpartition("@")[0][:MAX_NAME_CHARS]
        user.set_password(password)
        with transaction.atomic():
            user._save_unless_taken()
            user.mails.ask_to_verify(user)
        return user

    def change(self, *, keep: "Session | None" = None, **fields: Any) -> None:
        """Store the given fields only; `password` ends every scoped token, and log-in but `keep`.

        A new password and a new address are told by mail, and a new address is to be confirmed.
        Raises `EmailTaken`.
        """
        password = fields.pop("password", None)
        old_email, old_key = self.email, self.email_key
        kept = [keep.pk] if keep else []
        for name, value in fields.items():
            setattr(self, name, value)
        names = [*fields, "updated_at"]
        if "email" in fields:
            self.email_key = email_key(fields["email"])
            names.append("email_key")
            if self.email_key != old_key:
                self.email_verified_at = None
                names.append("email_verified_at")
        self.updated_at = timezone.now()
        with transaction.atomic():
            if password is not None and not self.check_password(password):
                self.set_password(password)
                names.append("password")
                auth_hash = self.get_session_auth_hash()
                self.scoped_tokens.all().delete()
                self.sessions.live().exclude(pk__in=kept).end()
                self.sessions.filter(pk__in=kept).update(auth_hash=auth_hash)
            self._save_unless_taken(names)
            if "password" in names and old_email:
                self.mails.tell(self, Letter.PASSWORD_CHANGED, old_email)
            if "email_verified_at" in names:
                self.mails.ask_to_verify(self)
                if old_email:
                    self.mails.tell(self, Letter.EMAIL_CHANGED, old_email)

    def reset_password(self, password: str) -> None:
        """A password for who had lost theirs: all log-ins and tokens end, even if it is the old.

        Call inside a transaction.
        """
        self.change(password=password, log_in_era=self.log_in_era + 1)
        self.scoped_tokens.all().delete()
        self.sessions.live().end()

    def verify_email(self) -> None:
        """Note that the owner reads mails to `email`."""
        if self.email_verified_at is None:
            self.email_verified_at = timezone.now()
            self.save(update_fields=["email_verified_at"])

    def require_verified_email(self) -> None:
        """Raise `EmailUnverified` where the settings ask for a confirmed address."""
        if settings.REQUIRE_VERIFIED_EMAIL and self.email_verified_at is None:
            raise EmailUnverified

    def _save_unless_taken(self, names: list[str] | None = None) -> None:
        try:
            with transaction.atomic():
                self.save(update_fields=names)
        except IntegrityError as error:
            raise EmailTaken from error

    def deactivate(self) -> None:
        """Bar the account; log-ins and scoped tokens stay dead when it is let in again."""
        self.is_active = False
        with transaction.atomic():
            self.save(update_fields=["is_active"])
            self.scoped_tokens.all().delete()
            self.log_out_everywhere()

    def log_out_everywhere(self) -> None:
        """End every log-in, in the API and in browsers; scoped tokens live on."""
        with transaction.atomic():
            User.objects.filter(pk=self.pk).update(log_in_era=models.F("log_in_era") + 1)
            self.refresh_from_db(fields=["log_in_era"])
            self.sessions.live().end()

    def empty(self) -> None:
        """Forget who this was; the row stays for the books of others. Not undone.

        Raises `LastAdmin`. Call inside a transaction.
        """
        self.require_other_admin()
        self.name, self.email, self.email_key = DELETED_NAME, None, None
        self.profile_picture = None
        self.role = Role.USER
        self.is_active = False
        self.set_unusable_password()
        self.deleted_at = self.updated_at = timezone.now()
        self.email_verified_at = None
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
