"""The scopes of tokens and the roles USER and ADMIN, as DRF permission classes."""

from collections.abc import Iterator
from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from users.models import User
from users.models.token import InsufficientScope, ScopedToken


def scopes_for(view: Any, method: str) -> tuple[str, ...]:
    """The scopes that a request to `view` needs; none if it is closed to scoped tokens.

    A view declares the area, `scope_prefix = "expenses"`; GET and HEAD read, other methods write.
    `more_scopes` are for what a view shows or changes outside of its area.
    """
    area = getattr(view, "scope_prefix", None)
    if not area:
        return ()
    own = f"{area}:{'read' if method in {'GET', 'HEAD'} else 'write'}"
    return own, *getattr(view, "more_scopes", ())


class HasTokenScope(BasePermission):
    """Base of all permissions: a scoped token must cover the action; a session covers all.

    It is checked before anything is fetched and depends on token and route alone. So the refusal,
    403 `insufficient_scope`, does not reveal whether a trip exists.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        # A method that the route does not support is a 405, not a 403.
        if isinstance(request.auth, ScopedToken) and view.action is not None:
            for scope in scopes_for(view, request.method or "") or (None,):
                request.auth.require(scope)
        return True

    def refusals(self, view: Any, method: str) -> Iterator[InsufficientScope]:
        """The exceptions that it may raise, for the OpenAPI document."""
        yield from map(InsufficientScope, scopes_for(view, method) or (None,))


class IsUser(HasTokenScope):
    """Any authenticated user; an ADMIN is a USER too."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return super().has_permission(request, view) and request.user.is_authenticated


class IsAdmin(IsUser):
    """Role ADMIN, which can be assigned in the admin site only."""

    def has_permission(self, request: Request, view: Any) -> bool:
        may = super().has_permission(request, view)
        return may and isinstance(request.user, User) and request.user.is_admin


class IsSelfOrAdmin(IsUser):
    """The user in the path (`user_id`), or an ADMIN.

    It compares ids only, so the response does not reveal which accounts exist.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        user, may = request.user, super().has_permission(request, view)
        if not (may and isinstance(user, User)):
            return False
        return user.pk == view.kwargs["user_id"] or user.is_admin
