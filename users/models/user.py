"""Accounts: registered, changed, deactivated, emptied."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy

from tripcompanion.kit.currencies import CODES
from tripcompanion.kit.problems import Conflict
from users.emails import MAX_EMAIL_CHARS, email_key

if TYPE_CHECKING:
    from users.models.session import Session
    from users.models.token import ScopedToken

MAX_NAME_CHARS = 50
MAX_PASSWORD_CHARS = 128
MIN_PASSWORD_CHARS = 8
DELETED_NAME = "Deleted user"


class EmailTaken(Conflict):
    """409 `email_taken`: another account has this address."""

    default_code = "email_taken"
    default_detail = gettext_lazy("This e-mail address is already in use.")


class LastAdmin(Conflict):
    """409 `last_admin`: somebody must be left who can administer."""

    default_code = "last_admin"
    default_detail = gettext_lazy("The last administrator cannot be deleted.")


class Role(models.TextChoices):
    """What an account may do beside its trips."""

    USER = "USER", gettext_lazy("User")
    ADMIN = "ADMIN", gettext_lazy("Administrator")


class UserManager(BaseUserManager["User"]):
    """Finds accounts by e-mail, and makes the first administrator from the command line."""

    def present(self) -> models.QuerySet["User"]:
        """Accounts that were not deleted."""
        return self.filter(deleted_at=None)

    def with_email(self, email: str) -> models.QuerySet["User"]:
        """The active account of this address, compared without regard to case, or none."""
        try:
            return self.present().filter(email_key=email_key(email), is_active=True)
        except ValidationError:
            return self.none()

    def get_by_natural_key(self, username: str | None) -> "User":
        """The account that a log-in names; raises `User.DoesNotExist`."""
        try:
            return self.present().get(email_key=email_key(username or ""))
        except ValidationError as error:
            raise self.model.DoesNotExist from error

    def create_superuser(self, email: str, password: str, name: str = "") -> "User":
        """An ADMIN, for `manage.py createsuperuser`; raises `ValidationError` on a bad address."""
        user = User.register(email, password, name)
        user.role = Role.ADMIN
        user.save(update_fields=["role"])
        return user


class User(AbstractBaseUser):
    """A person with a log-in. Deleting one empties the row and keeps it: others' books name it."""

    name = models.CharField(max_length=MAX_NAME_CHARS, blank=True)
    email = models.CharField(max_length=MAX_EMAIL_CHARS, unique=True, null=True)  # noqa: DJ001
    #: `email` as it is compared; null in deleted accounts, so that the address is free again.
    email_key = models.CharField(  # noqa: DJ001
        max_length=MAX_EMAIL_CHARS * 2, null=True, editable=False
    )
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
        user._save_unless_taken()
        return user

    def change(self, *, keep: "Session | None" = None, **fields: Any) -> None:
        """Store the given fields only; `password` ends every scoped token, and log-in but `keep`.

        Raises `EmailTaken`.
        """
        password = fields.pop("password", None)
        kept = [keep.pk] if keep else []
        for name, value in fields.items():
            setattr(self, name, value)
        names = [*fields, "updated_at"]
        if "email" in fields:
            self.email_key = email_key(fields["email"])
            names.append("email_key")
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
        admins = User.objects.present().filter(role=Role.ADMIN, is_active=True)
        if self.role == Role.ADMIN and not any(
            admin.pk != self.pk for admin in admins.select_for_update().order_by("pk")
        ):
            raise LastAdmin
        self.name, self.email, self.email_key = DELETED_NAME, None, None
        self.profile_picture = None
        self.role = Role.USER
        self.is_active = False
        self.set_unusable_password()
        self.deleted_at = self.updated_at = timezone.now()
        self.save()
        self.sessions.all().delete()
        self.scoped_tokens.all().delete()

    def get_session_auth_hash(self) -> str:
        """What a log-in was made with; it changes with the password and with `log_in_era`."""
        made_with = f"{super().get_session_auth_hash()}:{self.log_in_era}"
        return salted_hmac("users.User.session", made_with).hexdigest()

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
