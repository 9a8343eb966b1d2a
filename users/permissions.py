"""The roles USER and ADMIN of the specification, as DRF permission classes."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from users.models import User


class IsUser(BasePermission):
    """Whoever is logged in; an ADMIN is a USER too."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return bool(request.user.is_authenticated)


class IsAdmin(IsUser):
    """Role ADMIN, which only the admin site gives."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.user, User) and request.user.is_admin


class IsSelfOrAdmin(IsUser):
    """The user whom the path names (`user_id`), or ADMIN.

    It looks at the number alone, so the answer says nothing about which accounts exist.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        user = request.user
        return isinstance(user, User) and (user.pk == view.kwargs["user_id"] or user.is_admin)
