"""The trip's roles as DRF permission classes, driven by the table in `trips.roles`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

from django.db import transaction
from django.urls import resolve
from rest_framework.request import Request

from tripcompanion.kit.etags import etag_of, require_match
from tripcompanion.kit.showing import show
from tripcompanion.kit.viewsets import ApiViewSet
from trips.models import Trip, lock_trip, visible_row
from trips.roles import TABLE, Can, Reach, may
from users.permissions import IsUser

Row = TypeVar("Row")


class MayInTrip(IsUser):
    """Asks the table whether the caller's role covers the action.

    A view says which capability each action needs: `needs = {"pay": Can.SETTLE}`; None means
    that being a USER is enough. An action that is missing there is refused to everybody.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        # A method that the route has not is a 405, not a 403.
        has_method = (request.method or "").lower() in view.action_map
        is_declared = view.action in view.needs or not has_method
        return super().has_permission(request, view) and is_declared

    def capability(self, view: Any) -> Can:
        """What the present action of `view` needs."""
        return view.needs[view.action]

    def has_object_permission(self, request: Request, view: Any, obj: Any) -> bool:
        can = self.capability(view)
        return may(obj.caller_role, can, lambda: bool(obj.is_own(request.user, can)))


class IsTripOwner(MayInTrip):
    """Role OWNER of the specification: whoever may do what the table gives to owners alone."""

    def capability(self, view: Any) -> Can:
        return Can.MANAGE_MEMBERS


#: Of the viewsets whose one row carries an `ETag`.
TAGGED_ACTIONS = frozenset({"retrieve", "update", "partial_update", "destroy"})


class InTripViewSet(ApiViewSet):
    """Base of viewsets whose actions happen inside a trip."""

    permission_classes = (MayInTrip,)
    needs: ClassVar[Mapping[str, Can | None]] = {}

    def may_forbid(self) -> bool:
        can = self.needs[self.action]
        return can is not None and any(reached is not Reach.ANY for reached in TABLE[can].values())

    @contextmanager
    def unchanged(self, trip_id: int, shown: Callable[[], Any]) -> Iterator[None]:
        """Do what follows only if `If-Match`, where there is one, names what is shown now.

        The trip stays locked from the comparison to the end, so that of two writers who saw
        the same only one gets through. Raises `PreconditionFailed` (412).
        """
        if "If-Match" not in self.request.headers:
            yield
            return
        with transaction.atomic():
            lock_trip(trip_id)
            data = show(self.answers["retrieve"], shown(), self.get_serializer_context())
            require_match(self.request, etag_of(data))
            yield

    def guarded(self, rows: Any, **lookup: Any) -> Any:
        """The one row of `rows()` that `lookup` names, if the caller may do this to it.

        Raises `NotFound` for a stranger, a wrong parent and a missing id alike (`visible_row`),
        and `PermissionDenied` for a member whose role does not cover the action.
        """
        found = visible_row(rows, self.caller, **lookup)
        self.check_object_permissions(self.request, found)
        return found

    def require_replayable(self, location: str) -> None:
        """Raise `NotFound` unless the caller sees the trip that a stored answer is about.

        The path names the trip, or an expense of it. Where it names neither (a trip that is made
        or joined), the stored `Location` does.
        """
        named = self.kwargs or (resolve(location).kwargs if location else {})
        if "trip_id" in named:
            visible_row(Trip.objects.all, self.caller, pk=named["trip_id"])
        elif "expense_id" in named:
            visible_row(Trip.objects.all, self.caller, expenses=named["expense_id"])

    def guarded_all(self, found: Iterable[Row], trip_id: int) -> list[Row]:
        """All rows that were `found` in a trip, if the caller may do this to them.

        Only if there are none the trip itself is asked for. Raises as `guarded` does.
        """
        rows = list(found)
        if rows:
            self.check_object_permissions(self.request, rows[0])
        else:
            self.guarded(Trip.objects.all, pk=trip_id)
        return rows
