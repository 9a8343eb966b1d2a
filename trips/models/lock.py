"""The lock of a trip, and what is decided under it.

A trip is small, and everything that must agree lives inside it, so one lock is enough: the trip's
row. What was true before a command got the lock may be false behind it: the caller may have been
removed or demoted, the expense may have other payers, the currency may have changed. So the lock
comes with these answers only. `locked_trip` and `locked_row` take it, read caller, role, ownership
and currency anew, and ask the table of roles; a command starts with one of them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

from django.apps import apps
from django.db import models, transaction
from django.db.models import Exists, QuerySet
from rest_framework.exceptions import NotAuthenticated, NotFound, PermissionDenied

from tripcompanion.kit.prepared import Given, Prepared
from trips.models.visibility import InTripQuerySet, visible_row_of_active
from trips.roles import Can, TripRole, may
from users.models import User

if TYPE_CHECKING:
    from trips.models.trip import Trip

Row = TypeVar("Row", bound=models.Model)


@contextmanager
def locked_trip(
    trip_id: int,
    by: User,
    can: Can,
    is_own: Callable[["Trip"], bool] = lambda _trip: False,
) -> Iterator["Trip"]:
    """A transaction in which the trip stands still, for a command that `by` may give on it.

    `is_own` says whether what the command makes counts as the caller's own; it is asked only of
    roles whose reach for `can` is own. The trip has `caller_role` and `present_roles`.

    Raises `NotFound` if the trip is gone or the caller is no member, `PermissionDenied` if their
    role does not cover `can`, and `NotAuthenticated` if their account was deactivated.
    """
    with transaction.atomic():
        trip = lock_trip(trip_id)
        caller = _as_of_now(by)
        roles = {}
        for user_id, role, is_active in _present_roles(trip=trip_id, caller=caller.pk):
            roles[user_id] = role
            if not is_active:
                raise NotAuthenticated
        is_out_of_scope = caller.confined_to not in {None, trip_id}
        role = TripRole.OWNER if caller.is_admin else roles.get(caller.pk)
        if role is None or is_out_of_scope:
            raise NotFound
        trip.caller_role, trip.present_roles = role, roles
        _require(role, can, lambda: is_own(trip))
        yield trip


@contextmanager
def locked_row(
    rows: Callable[[], InTripQuerySet[Row]], by: User, can: Can, *, trip_id: int, **lookup: int
) -> Iterator[Row]:
    """The same for a command on one row of a trip: the row of `rows()` that `lookup` names.

    It is read under the lock, and knows the trip as it is now. Ownership is the row's `is_own`.
    Raises what `locked_trip` raises, and `NotFound` also if the row is gone.
    """
    with transaction.atomic():
        trip = lock_trip(trip_id)
        caller = _as_of_now(by)
        row: Any = visible_row_of_active(rows, caller, **lookup)
        if not row.caller_is_active:
            raise NotAuthenticated
        *parents, _trip, _members = rows().members_path.split("__")
        reduce(getattr, parents, row).trip = trip
        _require(row.caller_role, can, lambda: row.is_own(caller, can))
        yield row


def lock_trip(trip_id: int) -> "Trip":
    """The trip, its row locked until the transaction ends; raises `NotFound` if it is gone.

    Nothing is asked here. It is for the two context managers above, for whoever becomes a member,
    and for the comparison of `If-Match`.
    """
    # A prepared statement is not asked by Django whether it is inside a transaction.
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("A lock needs a transaction.")
    return _locking(pk=trip_id).get()


def _require(role: str, can: Can, is_own: Callable[[], bool]) -> None:
    if not may(role, can, is_own):
        raise PermissionDenied


def _as_of_now(by: User) -> User:
    """The caller, read anew if they came with the rights of an ADMIN: these may be gone."""
    if not by.is_admin:
        return by
    caller = User.objects.active().filter(pk=by.pk).first()
    if caller is None:
        raise NotAuthenticated
    return caller


def _trips() -> Any:
    # `trips.models.trip` stands on this module.
    return apps.get_model("trips", "Trip").objects


@Prepared
def _locking(pk: Given) -> QuerySet["Trip"]:
    return _trips().select_for_update().filter(pk=pk)


@Prepared
def _present_roles(trip: Given, caller: Given) -> QuerySet["Trip", tuple[int, str, bool]]:
    """User id and role of each present member, and whether the caller's account is active."""
    rows = _trips().filter(pk=trip, members__left_at=None)
    is_active = Exists(User.objects.active().filter(pk=caller))
    return rows.values_list("members__user", "members__role", is_active)
