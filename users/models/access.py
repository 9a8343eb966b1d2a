"""What an account may do in the whole service, and see of other accounts."""

from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from users.models.token import ScopedToken
    from users.models.user import User


#: Whether it has all rights, and the only trip that it is confined to.
Access = tuple[bool, int | None]


class Role(models.TextChoices):
    """The role of an account in the whole service."""

    USER = "USER", gettext_lazy("User")
    ADMIN = "ADMIN", gettext_lazy("Administrator")


class Rights:
    """Rights that follow from the role of an account, and from the token of the request."""

    pk: int
    role: str
    is_active: bool
    by_token: "ScopedToken | None"

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
        """The fields that `viewer` may not see; `is_companion`: whether they share a trip."""
        if viewer.pk == self.pk or viewer.is_admin:
            return ()
        private = ("role", "currency", "notices", "may_be_added", "created_at", "updated_at")
        return private if is_companion else (*private, "email")
