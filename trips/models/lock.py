"""The lock of a trip, and the checks under it.

A trip is small, and its invariants involve no other trip, so one lock is enough: the trip's row.
What was true before a command got the lock may be false now: the caller may have been removed or
demoted, the expense may have other payers, the currency may have changed. So every command starts
with `locked_trip` or `locked_row`. They take the lock, read caller, role, ownership and currency
again, and check the table of roles.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial, reduce
from typing import TYPE_CHECKING, Any, TypeVar

from django.apps import apps
from django.db import models, transaction
from django.db.models import Exists, F, QuerySet
from rest_framework.exceptions import NotAuthenticated, NotFound, PermissionDenied

from tripcompanion.compiled import CompiledQuery, Param
from tripcompanion.observability.instruments import TRIP_LOCK_WAIT
from trips.models.visibility import InTripQuerySet, get_visible_with_account_or_404
from trips.roles import CREATOR_ROLE, Can, may
from users.models import User, summary_of
from users.models.user import Access

if TYPE_CHECKING:
    from trips.models.member import Member
    from trips.models.trip import Trip

Row = TypeVar("Row", bound=models.Model)


@contextmanager
def locked_trip(
    trip_id: int,
    by: User,
    can: Can,
    is_own: Callable[["Trip"], bool] = lambda _trip: False,
) -> Iterator["Trip"]:
    """Open a transaction, lock the trip, and yield it for a command of `by` that needs `can`.

    `is_own` returns whether the object of the command is the caller's own; it is called only if
    the access of their role is own. The trip has `caller_role`, `present_roles` and
    `present_people`.

    Raises `NotFound` if the trip does not exist or the caller is not a member, `PermissionDenied`
    if their role does not cover `can`, and `NotAuthenticated` if their account was deactivated.
    """
    with transaction.atomic():
        trip = lock_trip(trip_id)
        caller, access = _as_of_now(by)
        members = _present_members.fetch(trip=trip_id, caller=caller.pk)
        _judge(trip, caller, access, members)
        _require(trip.caller_role, can, lambda: is_own(trip))
        yield trip


@contextmanager
def locked_deleted_trip(rows: QuerySet["Trip"], by: User, can: Can) -> Iterator["Trip"]:
    """Like `locked_trip`, for the trip in `rows`, which is deleted.

    The roles are those that its members had when it was deleted.
    """
    with transaction.atomic():
        trip = _measured(rows.select_for_update().first)
        caller, access = _as_of_now(by)
        _judge(trip, caller, access, _members_at_deletion(trip.pk, caller.pk))
        _require(trip.caller_role, can, lambda: False)
        yield trip


@contextmanager
def locked_row(
    rows: Callable[[], InTripQuerySet[Row]], by: User, can: Can, *, trip_id: int, **lookup: int
) -> Iterator[Row]:
    """Like `locked_trip`, but yield the row of `rows()` in the trip that matches `lookup`.

    The row is read under the lock and refers to the locked trip. Its `is_own` decides ownership.
    Raises what `locked_trip` raises, and `NotFound` if the row does not exist.
    """
    with transaction.atomic():
        trip = lock_trip(trip_id)
        caller, _access = _as_of_now(by)
        row: Any = get_visible_with_account_or_404(rows, caller, **lookup)
        if not row.caller_is_active:
            raise NotAuthenticated
        reduce(getattr, _path_to_parent(rows), row).trip = trip
        _require(row.caller_role, can, lambda: row.is_own(caller, can))
        yield row


def lock_trip(trip_id: int) -> "Trip":
    """Lock the trip until the transaction ends, and return it; raises `NotFound`.

    It checks nothing else. Use it only in the two context managers above, for admitting members and
    for comparing `If-Match`.
    """
    # For a compiled statement, Django does not check that it runs inside a transaction.
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("A lock needs a transaction.")
    return _measured(partial(_locking.first, pk=trip_id))


@TRIP_LOCK_WAIT.time()
def _measured(lock: Callable[[], "Trip | None"]) -> "Trip":
    """The trip that `lock` has locked; raises `NotFound` if there is none."""
    trip = lock()
    if trip is None:
        raise NotFound
    return trip


@cache
def _path_to_parent(rows: Callable[[], InTripQuerySet[Row]]) -> list[str]:
    """The attributes that lead from a row of `rows()` to the row that refers to its trip."""
    *parents, _trip, _members = rows().members_path.split("__")
    return parents


def _judge(trip: "Trip", caller: User, access: Access, members: Iterable["Member"]) -> None:
    """Set the people and roles of the locked trip by its `members`; see `_with_accounts`."""
    roles, people = {}, {}
    for member in members:
        roles[member.user_id], people[member.user_id] = member.role, member.user
        if not member.caller_is_active:
            raise NotAuthenticated
    is_admin, confined_to = access
    own_role = CREATOR_ROLE if is_admin else roles.get(caller.pk)
    if own_role is None or confined_to not in {None, trip.pk}:
        raise NotFound
    trip.caller_role, trip.present_roles, trip.present_people = own_role, roles, people


def _require(role: str, can: Can, is_own: Callable[[], bool]) -> None:
    if not may(role, can, is_own):
        raise PermissionDenied


def _as_of_now(by: User) -> tuple[User, Access]:
    """The caller with their `access`, read again for an ADMIN, who may have lost that role."""
    access = by.access
    is_admin, _confined_to = access
    if not is_admin:
        return by, access
    caller = User.objects.active().filter(pk=by.pk).first()
    if caller is None:
        raise NotAuthenticated
    return caller, caller.access


def _trips() -> Any:
    # `trips.models.trip` imports this module.
    return apps.get_model("trips", "Trip").objects


@CompiledQuery
def _locking(pk: Param) -> QuerySet["Trip"]:
    # Whoever waits for the lock while the trip is deleted finds no trip.
    return _trips().select_for_update().filter(pk=pk, deleted_at=None)


@CompiledQuery
def _present_members(trip: Param, caller: Param) -> QuerySet["Member"]:
    return _with_accounts(caller).filter(trip=trip, left_at=None)


def _members_at_deletion(trip_id: int, caller_id: int) -> QuerySet["Member"]:
    return _with_accounts(caller_id).filter(trip=trip_id, left_at=F("trip__deleted_at"))


def _with_accounts(caller: Param | int) -> QuerySet["Member"]:
    """Members with what responses contain of their accounts, and with `caller_is_active`."""
    columns = ("trip", "user", "role", "user__notice_mode", *summary_of("user"))
    active = {"caller_is_active": Exists(User.objects.active().filter(pk=caller))}
    members: QuerySet[Member] = apps.get_model("trips", "Member").objects.order_by()
    return members.select_related("user").only(*columns).annotate(**active)
