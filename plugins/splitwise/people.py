"""Groups, friends, and who owes whom among them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound

from plugins.invitations.models import Invitation
from plugins.splitwise import objects
from plugins.splitwise.entries import MAX_PEOPLE
from plugins.splitwise.errors import refused
from plugins.splitwise.models import DEFAULT_GROUP_TYPE, Group
from splits.models import Settlement
from splits.models.debt import Debt
from splits.settling import fewest_transfers
from trips.models import Member, Trip
from users.models import User

OUTSIDE = 0
#: The group of what is outside of groups, without members and debts.
_GROUP = {
    "id": OUTSIDE,
    "name": "Non-group expenses",
    # Balances of friends are those between two people, also where a client asked for others.
    "simplify_by_default": False,
    "whiteboard": None,
    "group_type": DEFAULT_GROUP_TYPE,
    "invite_link": None,
}
#: How many open debts and unused credits one answer sums up.
MAX_DEBTS = 100_000
Pairs = dict[tuple[int, int], int]


def owed(debts: QuerySet[Debt], credit: QuerySet[Settlement]) -> dict[int, Pairs]:
    """What people owe each other, `{(debtor, creditor): amount}` by trip, in minor units.

    Open debts, less what was paid beyond them. It adds up to everybody's balance.
    """
    owed: dict[int, Pairs] = defaultdict(lambda: defaultdict(int))
    between = debts.order_by().values_list("trip", "debtor", "creditor")
    for trip_id, debtor, creditor, minor in between.annotate(Sum("open_minor")):
        _add(owed[trip_id], debtor, creditor, int(minor))
    paid = credit.order_by().values_list("trip", "receiver", "sender")
    for trip_id, debtor, creditor, minor in paid.annotate(Sum("credit_minor")):
        _add(owed[trip_id], debtor, creditor, int(minor))
    return owed


def _require_at_most(most: int, *tables: QuerySet[Any]) -> None:
    """Raise `ValidationError` if these tables have more rows; it counts no further than `most`."""
    if sum(rows.order_by()[: most + 1].count() for rows in tables) > most:
        text = _("These are too many people or debts for one answer; ask for one group or friend.")
        raise refused(text)


def _add(pairs: Pairs, debtor: int, creditor: int, minor: int) -> None:
    """Add a debt; what two people owe each other is set off."""
    net = pairs.pop((debtor, creditor), 0) - pairs.pop((creditor, debtor), 0) + minor
    pairs[(debtor, creditor) if net > 0 else (creditor, debtor)] = abs(net)


class Circle:
    """Groups and friends of the caller, read in a constant number of statements.

    It holds `trips` whole or, with `friends`, only what these people and the caller owe each other
    there; `EVERYBODY` are all members. Raises `ValidationError` if this is too much for one answer:
    totals of a part of the trips would be wrong.
    """

    EVERYBODY = Q()

    def __init__(self, user: User, trips: QuerySet[Trip], friends: Q | None = None) -> None:
        self.user = user
        self.trips = {trip.pk: trip for trip in trips}
        found = Group.objects.with_outside().filter(trip__in=self.trips)
        self._known = {group.pk: group for group in found}
        self._members: dict[int, list[Member]] = defaultdict(list)
        #: Everybody else, and the trips that each of them shares with the caller.
        self.people: dict[int, User] = {}
        self.shared: dict[int, list[int]] = defaultdict(list)
        members, debts, credit = self._rows(friends)
        _require_at_most(MAX_PEOPLE, members)
        _require_at_most(MAX_DEBTS, debts, credit)
        for member in members.select_related("user"):
            if member.left_at is None and member.user_id != user.pk:
                self.people[member.user_id] = member.user
                self.shared[member.user_id].append(member.trip_id)
            self._members[member.trip_id].append(member)
        self._owed = owed(debts, credit)
        guests = [pk for pk, person in self.people.items() if person.is_guest]
        invitations = Invitation.objects.unused().filter(trip__in=self.trips, guest__in=guests)
        self._invited = set(invitations.values_list("guest", flat=True))

    def _rows(
        self, friends: Q | None
    ) -> tuple[QuerySet[Member], QuerySet[Debt], QuerySet[Settlement]]:
        """The members, open debts and unused credits to read."""
        here = {"trip__in": self.trips}
        debts = Debt.objects.filter(**here, open_minor__gt=0)
        credit = Settlement.with_offsets.filter(**here, credit_minor__gt=0)
        if friends is None:
            unsettled = Member.objects.unsettled().filter(**here).order_by()
            known = Q(left_at=None) | Q(pk__in=unsettled.values("pk"))
            return Member.objects.filter(known, **here), debts, credit
        own = self.user
        return (
            Member.objects.present().filter(friends, **here),
            debts.filter(Q(debtor=own) | Q(creditor=own)),
            credit.filter(Q(sender=own) | Q(receiver=own)),
        )

    def groups(self) -> list[dict[str, Any]]:
        """All groups, that of the expenses outside of groups first."""
        return [self.outside(), *(self.group(pk) for pk in self.trips if not self.is_outside(pk))]

    def group(self, trip_id: int) -> dict[str, Any]:
        trip, members = self.trips[trip_id], self._members[trip_id]
        known = self._known.get(trip_id, Group())
        transfers = fewest_transfers({one.user_id: one.balance_minor for one in members})
        plan = {(one.sender_id, one.receiver_id): one.amount_minor for one in transfers}
        return _GROUP | {
            "id": trip.pk,
            "name": trip.title,
            "created_at": objects.instant(trip.created_at),
            "updated_at": objects.instant(trip.updated_at),
            "members": [
                self.member(one.user, {trip.currency: one.balance_minor}) for one in members
            ],
            "original_debts": objects.debts(self._owed[trip_id], trip.currency),
            "simplified_debts": objects.debts(plan, trip.currency),
            "whiteboard": trip.description or None,
            "group_type": known.group_type,
        }

    def outside(self) -> dict[str, Any]:
        """Group 0: what the caller shares with single people."""
        created_at = objects.instant(self.user.created_at)
        sums: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        people, debts = {self.user.pk: self.user}, []
        for trip_id in filter(self.is_outside, self.trips):
            currency = self.trips[trip_id].currency
            for member in self._members[trip_id]:
                people[member.user_id] = member.user
                sums[member.user_id][currency] += member.balance_minor
            debts += objects.debts(self._owed[trip_id], currency)
        return _GROUP | {
            "created_at": created_at,
            "updated_at": created_at,
            "members": [self.member(person, sums[pk]) for pk, person in people.items()],
            "original_debts": debts,
            "simplified_debts": debts,
        }

    def friends(self) -> list[dict[str, Any]]:
        """Everybody with whom the caller shares a trip, by id."""
        return [self.friend(pk) for pk in sorted(self.people)]

    def friend(self, user_id: int) -> dict[str, Any]:
        """A friend; raises `NotFound`."""
        if user_id not in self.people:
            raise NotFound
        person = self.people[user_id]
        total: dict[str, int] = defaultdict(int)
        by_group: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for trip_id in self.shared[user_id]:
            group = OUTSIDE if self.is_outside(trip_id) else trip_id
            minor = self._owes(trip_id, user_id)
            for sums in (total, by_group[group]):
                sums[self.trips[trip_id].currency] += minor
        return {
            **self.member(person, total),
            "groups": [
                {"group_id": group, "balance": objects.balances(sums)}
                for group, sums in sorted(by_group.items())
            ],
            "updated_at": objects.instant(person.updated_at),
        }

    def member(self, person: User, by_currency: Mapping[str, int]) -> dict[str, Any]:
        return objects.member(person, by_currency, is_invited=person.pk in self._invited)

    def is_outside(self, trip_id: int) -> bool:
        return self._known.get(trip_id, Group()).is_outside

    def _owes(self, trip_id: int, user_id: int) -> int:
        """What a person owes the caller; negative if the caller owes them."""
        pairs: Mapping[tuple[int, int], int] = self._owed[trip_id]
        own = self.user.pk
        return pairs.get((user_id, own), 0) - pairs.get((own, user_id), 0)
