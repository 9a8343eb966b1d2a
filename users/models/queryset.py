"""Queries for accounts, and the manager that Django's authentication uses."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.contrib.auth.models import BaseUserManager
from django.core.exceptions import ValidationError
from django.db import models
from rest_framework.exceptions import NotFound

from users.emails import email_key
from users.models.lock import lock_rows
from users.passwords import MaximumLengthValidator

if TYPE_CHECKING:
    from users.models.user import User


class UserQuerySet(models.QuerySet["User"]):
    def active(self) -> "UserQuerySet":
        """Accounts that were neither deleted nor deactivated."""
        return self.filter(deleted_at=None, is_active=True)

    def locked(self, user_id: int) -> "User":
        """Lock the account until the transaction ends, and return it; raises `NotFound`.

        Nobody can change the account or add it to a trip meanwhile. Entries can still refer to it.
        """
        user = self.select_for_update(no_key=True).filter(pk=user_id).first()
        if user is None:
            raise NotFound
        return user

    def lock_all(self, user_ids: Iterable[int]) -> None:
        """Lock these accounts and those of all administrators, for commands on several accounts."""
        lock_rows(self, user_ids, lock_admins=True)


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
