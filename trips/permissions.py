"""The trip's roles as DRF permission classes, driven by the table in `trips.roles`."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework.generics import get_object_or_404
from rest_framework.request import Request

from tripcompanion.kit.viewsets import ApiViewSet
from trips.roles import TABLE, Can, Reach, reach
from users.permissions import IsUser


class MayInTrip(IsUser):
    """Asks the table whether the caller's role covers the action.

    A view says which capability each action needs: `needs = {"pay": Can.SETTLE}`; None means
    that being a USER is enough. An action that is missing there is refused to everybody.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        return super().has_permission(request, view) and self._is_declared(view)

    def _is_declared(self, view: Any) -> bool:
        # DRF knows no action for a method that the route has not; that is a 405, not a 403.
        return view.action is None or view.action in view.needs

    def capability(self, view: Any) -> Can:
        """What the present action of `view` needs."""
        return view.needs[view.action]

    def has_object_permission(self, request: Request, view: Any, obj: Any) -> bool:
        can = self.capability(view)
        match reach(obj.caller_role, can):
            case Reach.ANY:
                return True
            case Reach.OWN:
                return bool(obj.is_own(request.user, can))
        return False


class IsTripOwner(MayInTrip):
    """Role OWNER of the specification: whoever may do what the table gives to owners alone."""

    def capability(self, view: Any) -> Can:
        return Can.MANAGE_MEMBERS


class InTripViewSet(ApiViewSet):
    """Base of viewsets whose actions happen inside a trip."""

    permission_classes = (MayInTrip,)
    needs: ClassVar[Mapping[str, Can | None]] = {}

    def may_forbid(self) -> bool:
        can = self.needs[self.action]
        return can is not None and any(reached is not Reach.ANY for reached in TABLE[can].values())

    def guarded(self, rows: Any, **lookup: Any) -> Any:
        """The one row of `rows` (a `visible_to` queryset), if the caller may do this to it.

        Raises `NotFound` for a stranger, a wrong parent and a missing id alike, and
        `PermissionDenied` for a member whose role does not cover the action.
        """
        found = get_object_or_404(rows, **lookup)
        self.check_object_permissions(self.request, found)
        return found
