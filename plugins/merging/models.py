"""Merges and claims: a member, or an account that becomes one, gets the entries of a guest."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ParseError, ValidationError

from splits.models import Settlement
from splits.models.people import expenses_with
from tripcompanion.api.problems import Conflict
from tripcompanion.api.serializers import MAX_INTEGER
from trips.models import Member, Trip, locked_row, revoked_by_plugins
from trips.models.events import Event
from trips.models.joining import require_trip_quota
from trips.models.journal import Entry, entries_between, write
from trips.models.member import KEPT_SUMS
from trips.roles import DEFAULT_ROLE, Can
from trips.signals import author_replaced, person_replaced
from users.models import User


class NotAGuest(Conflict):
    """409 `not_a_guest`: a member with an account cannot be merged with another member."""

    default_code = "not_a_guest"
    default_detail = gettext_lazy("This member has an account; only a guest can be merged.")


class NamesBoth(Conflict):
    """409 `names_both`: entries name both people, so one person would be in them twice.

    `expenses` and `settlements` are the ids of these entries.
    """

    default_code = "names_both"
    default_detail = gettext_lazy(
        "Some expenses or settlements name both people. Please change or delete these first."
    )
    extensions: Mapping[str, Any] = {"expenses": [31, 47], "settlements": []}

    def __init__(self, expenses: list[int], settlements: list[int]) -> None:
        super().__init__()
        self.extensions = {"expenses": expenses, "settlements": settlements}


class Merge:
    """A guest, and the member who gets their entries. Use it under the lock of the trip.

    The merge changes no amount that anybody paid, bears, owes or is owed: the rows name another
    person, and the member's sums include the guest's. Raises `NamesBoth`, and `ParseError` if a sum
    does not fit into 64 bits.
    """

    def __init__(self, trip: Trip, guest: Member, member: Member) -> None:
        self.trip, self.guest, self.member = trip, guest, member
        self.balance_before_minor = member.balance_minor
        self.balance_after_minor = member.balance_minor + guest.balance_minor
        #: How many expenses and settlements name the guest.
        self.expense_count = expenses_with(trip, guest.user_id).count()
        self.settlement_count = self._settlements_with(guest).count()
        self._require_apart()
        if any(abs(self._sum(name)) > MAX_INTEGER for name in KEPT_SUMS):
            raise ParseError(_("A value is out of range."), "out_of_range")

    @classmethod
    def order(cls, guest: Member, by: User, user_id: int, *, dry_run: bool = False) -> "Merge":
        """Merge `guest` with the present member `user_id`; with `dry_run`, change nothing.

        Raises `NotAGuest`, `NamesBoth`, and `ValidationError` on `userId` if there is no such
        member, or if it is the guest.
        """
        lookup = {"trip": guest.trip_id, "user_id": guest.user_id}
        with locked_row(
            Member.objects.with_user, by, Can.MANAGE_MEMBERS, trip_id=guest.trip_id, **lookup
        ) as found:
            if not found.user.is_guest:
                raise NotAGuest
            others = Member.objects.with_user().filter(trip=found.trip_id).exclude(pk=found.pk)
            member = others.filter(user=user_id).first()
            if member is None:
                raise ValidationError({"userId": [_("There is no such other member.")]})
            merge = cls(found.trip, found, member)
            if not dry_run:
                write(found.trip_id, by, *merge.carry_out())
            return merge

    def carry_out(self) -> list[Entry]:
        """Give all entries of the guest to the member, and delete the guest.

        Returns the entries for the journal: first what plugins revoked, last the merge. Afterwards,
        everything of the guest belongs to the member.
        """
        guest_id, user_id = self.guest.user_id, self.member.user_id
        for signal in (person_replaced, author_replaced):
            signal.send(Trip, trip=self.trip, user_id=guest_id, to=user_id)
        for name in KEPT_SUMS:
            setattr(self.member, name, self._sum(name))
        self.member.save(update_fields=KEPT_SUMS)
        revoked = revoked_by_plugins(self.trip.pk, guest_id, is_deleted=True)
        self.guest.delete()
        User.objects.filter(pk=guest_id, is_guest=True).delete()
        return [*revoked, Entry(Event.GUEST_MERGED, user_id, {"userId": (guest_id, user_id)})]

    def _settlements_with(self, member: Member) -> QuerySet[Settlement]:
        sides = Q(sender=member.user_id) | Q(receiver=member.user_id)
        return Settlement.objects.filter(sides, trip=self.trip)

    def _require_apart(self) -> None:
        """Raise `NamesBoth` if an entry names both. A deleted one cannot be restored then."""
        both = {self.guest.user_id, self.member.user_id}
        between = self._settlements_with(self.guest).filter(sender__in=both, receiver__in=both)
        expenses = {*expenses_with(self.trip, *both).values_list("pk", flat=True)}
        settlements = {*between.values_list("pk", flat=True)}
        if expenses or settlements:
            raise NamesBoth(sorted(expenses), sorted(settlements))

    def _sum(self, name: str) -> int:
        return getattr(self.member, name) + getattr(self.guest, name)


def claim(trip: Trip, guest_id: int, account: User, role: str) -> list[Entry]:
    """Give all entries of the guest to the account, and delete the guest. Call under both locks.

    A member keeps their role, and the guest's entries are merged with theirs. For others, amounts,
    debts and sums stay as they are: the account also gets the guest's odd cents. Returns the
    entries for the journal.
    """
    member = trip.members.filter(user=account).first()
    if member is None or member.left_at is not None:
        trip.require_owner_besides(role)
        require_trip_quota(account)
    if member is None:
        trip.replace_person(guest_id, account.pk, role)
        revoked = revoked_by_plugins(trip.pk, guest_id, is_deleted=True)
        User.objects.filter(pk=guest_id, is_guest=True).delete()
        guest = {"userId": guest_id, "role": DEFAULT_ROLE}
        now = {"userId": account.pk, "role": role}
        return [*revoked, *entries_between(Event.GUEST_CLAIMED, account.pk, guest, now)]
    joined = []
    if member.left_at is not None:
        member.readmit(role)
        joined = [Entry(Event.MEMBER_JOINED, account.pk, {"role": (None, role)})]
    return joined + Merge(trip, trip.members.get(user=guest_id), member).carry_out()
