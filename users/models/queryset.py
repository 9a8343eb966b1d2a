"""Which accounts there are, and how they are found."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.contrib.auth.models import BaseUserManager
from django.core.exceptions import ValidationError
from django.db import models
from rest_framework.exceptions import NotFound

from users.emails import email_key
from users.models.gate import lock_rows
from users.passwords import MaximumLengthValidator

if TYPE_CHECKING:
    from users.models.user import User


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

    def lock_all(self, user_ids: Iterable[int]) -> None:
        """Lock these accounts and those of all administrators, for commands on several."""
        lock_rows(self, user_ids, lock_admins=True)


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
        return self.model.register(email, password, name, role="ADMIN")
