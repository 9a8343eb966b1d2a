"""DRF permission classes for the roles of a trip, driven by the table in `trips.roles`."""

from typing import Any

from rest_framework.request import Request

from trips.roles import Can, may
from users.permissions import IsUser


class MayInTrip(IsUser):
    """Checks in the table whether the caller's role covers the action.

    A view declares the capability that each action needs: `needs = {"pay": Can.SETTLE}`. None
    means that any USER may do it. See `InTripViewSet`, which has no routes to other actions.
    """

    def capability(self, view: Any) -> Can:
        """The capability that the current action of `view` needs."""
        return view.needs[view.action]

    def has_object_permission(self, request: Request, view: Any, obj: Any) -> bool:
        can = self.capability(view)
        return may(obj.caller_role, can, lambda: bool(obj.is_own(request.user, can)))


class IsTripOwner(MayInTrip):
    """Role OWNER of the specification: may do what the table allows owners only."""

    def capability(self, view: Any) -> Can:
        return Can.MANAGE_MEMBERS
