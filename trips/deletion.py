"""Deletion of an account: the obstacles to it, and its effect on trips."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import Conflict
from tripcompanion.currency.amounts import to_major
from tripcompanion.plugin import plugins
from trips.models.conflicts import BalanceOpen, LastOwner
from trips.models.events import Event
from trips.models.journal import Entry, JournalEntry, JournalQuerySet, write
from trips.models.member import Member, MemberQuerySet
from trips.models.trip import Trip
from trips.roles import OWNER_ROLES
from users.models import Role, User


class AccountInUse(Conflict):
    """409 `account_in_use`: the account has open balances, or is a trip's last owner.

    The member `obstacles` of the problem document lists them by trip.
    """

    default_code = "account_in_use"
    default_detail = gettext_lazy("Settle your balances and hand over your trips first.")
    #: The example in the OpenAPI document; each instance has its own.
    extensions: Mapping[str, Any] = {
        "obstacles": [
            {
                "tripId": 7,
                "title": "Lisbon in May",
                "reason": BalanceOpen.default_code,
                "balance": -12.5,
                "currency": "EUR",
            }
        ]
    }

    def __init__(self, obstacles: list[dict[str, Any]]) -> None:
        super().__init__()
        self.extensions = {"obstacles": obstacles}


def delete_account(
    user: User,
    *,
    by: User | None,
    as_admin: bool = False,
    settled: bool = False,
    proof: str | None = None,
) -> None:
    """Delete an account: end its memberships, empty its row, forget its texts; its entries stay.

    Raises `LastOwner` if the other members of a trip would have no owner, and `LastAdmin`. With
    `settled`, raises `AccountInUse` instead of `LastOwner`, and also for open balances. `by` and
    `as_admin` are those of `User.locked`; `proof` is the hash that the password was verified
    against.
    """
    lock_admins = as_admin or user.role == Role.ADMIN
    # Under this lock the account cannot be added to a trip. Then its trips are locked too.
    with user.locked(by=by, as_admin=as_admin, lock_admins=lock_admins) as account:
        account.require_password(proof, "password")
        account.require_other_admin()
        members = Member.objects.filter(user=account)
        # First without the locks, each of which is a statement.
        _require_no_obstacles(members.filter(introduced_by=None), settled=settled)
        traces = [rows for app in plugins() for rows in app.traces(account)]
        locked = _lock_trips_of(members, *traces)
        entries: dict[int, list[Entry]] = {trip_id: [] for trip_id in locked}
        # Where the account has not answered, entries of others do not prevent its deletion.
        for member in members.present().exclude(introduced_by=None).select_related("trip", "user"):
            entries[member.trip_id] += member.leave_place_to_guest()
        _require_no_obstacles(members, settled=settled)
        ending = members.present_or_restorable()
        for trip_id, user_id, role in ending.values_list("trip", "user", "role"):
            entries[trip_id].append(Entry(Event.MEMBER_LEFT, user_id, {"role": (role, None)}))
        for trip_id, of_trip in entries.items():
            write(trip_id, by, *of_trip, is_limited=False)
        ending.update(left_at=timezone.now())
        _forget_names(account, locked)
        for app in plugins():
            app.forget(account, by)
        account.empty()


def _lock_trips_of(*traces: QuerySet[Any]) -> list[int]:
    """Lock the trips of these rows and return their ids.

    An ADMIN can write in trips without being a member. One trip after the other is locked, in the
    order of their ids, because Citus locks rows of only one trip in a statement.
    """
    # A statement for each: joined by OR, PostgreSQL may look for them in every trip there is.
    ids = {pk for rows in traces for (pk,) in rows.order_by().values_list("trip").distinct()}
    rows = Trip.objects.select_for_update().order_by().values_list("pk", flat=True)
    return [pk for trip_id in sorted(ids) for pk in rows.filter(pk=trip_id)]


def _require_no_obstacles(members: MemberQuerySet, *, settled: bool) -> None:
    """Raise `LastOwner` or, if the account must be `settled`, `AccountInUse`."""
    others = Member.objects.filter(trip=OuterRef("trip")).exclude(pk=OuterRef("pk"))
    # In a deleted trip, nothing can be settled or handed over.
    kept = members.in_kept_trips().select_related("trip").order_by("trip_id")
    kept = kept.annotate(
        has_others=Exists(others.present().filter(user__is_guest=False)),
        has_other_owner=Exists(others.owners()),
    )
    obstacles = [obstacle for member in kept for obstacle in _obstacles(member)]
    if settled and obstacles:
        raise AccountInUse(obstacles)
    if any(obstacle["reason"] == LastOwner.default_code for obstacle in obstacles):
        raise LastOwner


def _forget_names(account: User, trip_ids: list[int]) -> None:
    """Remove the names of the guests that the account was from the journals."""
    journal = JournalEntry.objects.filter(trip__in=trip_ids)
    journal.about(_guests_replaced_by(account, journal)).forget("name")


def _guests_replaced_by(account: User, journal: JournalQuerySet) -> set[int]:
    """The ids of the guests whose place the account took, also by earlier merges.

    Rows from a file may say that somebody took their own place, or not whose.
    """
    former: dict[int, set[int]] = defaultdict(set)
    for row in journal.filter(event__in=(Event.GUEST_CLAIMED, Event.GUEST_MERGED)):
        former[row.object_id].add(row.changes.get("userId", {"old": None})["old"])
    found, wanted = set[int](), former[account.pk]
    while wanted:
        found |= wanted
        wanted = {guest_id for user_id in wanted for guest_id in former[user_id]} - found
    return found


def _obstacles(member: Any) -> Iterator[dict[str, Any]]:
    """The obstacles from one membership, which may have ended."""
    is_last_owner = (
        member.left_at is None
        and member.role in OWNER_ROLES
        and member.has_others
        and not member.has_other_owner
    )
    for reason, applies in (
        (BalanceOpen.default_code, member.balance_minor),
        (LastOwner.default_code, is_last_owner),
    ):
        if applies:
            yield {
                "tripId": member.trip_id,
                "title": member.trip.title,
                "reason": reason,
                "balance": to_major(member.balance_minor, member.trip.currency),
                "currency": member.trip.currency,
            }
