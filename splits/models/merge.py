"""Merges and claims: a member, or an account that becomes one, gets the entries of a guest."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat, Replace
from django.dispatch import receiver
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ParseError, ValidationError

from splits.models.debt import Debt
from splits.models.expense import Expense
from splits.models.in_trip import added_rows
from splits.models.items import key_of
from splits.models.payer import Payer
from splits.models.settlement import Settlement
from splits.models.split import Split
from tripcompanion.api.problems import Conflict
from tripcompanion.api.serializers import MAX_INTEGER
from tripcompanion.database.deletes import delete_unread
from trips.models import Member, Trip, locked_row, revoked_by_plugins
from trips.models.events import Event
from trips.models.joining import require_trip_quota
from trips.models.journal import Entry, entries_between, write
from trips.models.member import KEPT_SUMS
from trips.roles import DEFAULT_ROLE, Can
from trips.signals import person_replaced, person_sought
from users.models import User

#: Every column that names a person of the ledger, or who recorded an entry: guests record nothing,
#: but some have recorded what was imported.
PEOPLE: tuple[tuple[type[Model], str], ...] = (
    (Payer, "user"),
    (Split, "participant"),
    (Debt, "debtor"),
    (Debt, "creditor"),
    (Settlement, "sender"),
    (Settlement, "receiver"),
    (Expense, "created_by"),
    (Settlement, "created_by"),
)


def people_columns() -> Iterable[tuple[type[Model], str]]:
    """`PEOPLE`, and the authors of rows of plugins."""
    return [*PEOPLE, *((rows.model, "created_by") for rows in added_rows().values())]


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
        self._of_guest = _expenses_with(trip, guest.user_id)
        #: How many expenses and settlements name the guest.
        self.expense_count = self._of_guest.count()
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
        person_replaced.send(Trip, trip=self.trip, user_id=guest_id, to=user_id)
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
        with_member = _expenses_with(self.trip, self.member.user_id).values("pk")
        between = self._settlements_with(self.guest).filter(sender__in=both, receiver__in=both)
        expenses = {*self._of_guest.filter(pk__in=with_member).values_list("pk", flat=True)}
        settlements = {*between.values_list("pk", flat=True)}
        if expenses or settlements:
            raise NamesBoth(sorted(expenses), sorted(settlements))

    def _sum(self, name: str) -> int:
        return getattr(self.member, name) + getattr(self.guest, name)


def _expenses_with(trip: Trip, user_id: int) -> QuerySet[Expense]:
    """The expenses that name somebody: in the items also if their split was deleted by hand."""
    same = {"trip": trip, "expense": OuterRef("pk")}
    paid = Exists(Payer.objects.filter(user=user_id, **same))
    shared = Exists(Split.objects.filter(participant=user_id, **same))
    had = Q(stored_items__contains=key_of(user_id))
    return Expense.objects.filter(paid | shared | had, trip=trip)


@receiver(person_replaced)
def give_entries(trip: Trip, user_id: int, to: int, **_about: object) -> None:
    """Replace one person by another in all entries, including deleted ones.

    Call it under the lock of the trip. No amounts change, and the odd cents stay where they are.
    The caller decides who has which sums.
    """
    with_pair = Concat(F("merged_guests"), Value(f" {to}:{user_id}"))
    _expenses_with(trip, user_id).update(merged_guests=with_pair)
    dropped = _drop_offsets_between(trip, {user_id, to})
    for model, column in people_columns():
        named: dict[str, Any] = {"trip": trip, column: user_id}
        rows: QuerySet = model._base_manager.filter(**named)
        rows.update(**{column: to})
    trip.rename_in_default_division(user_id, to)
    itemized = Expense.objects.filter(trip=trip, stored_items__contains=key_of(user_id))
    renamed = Replace("stored_items", Value(key_of(user_id)), Value(key_of(to)))
    itemized.update(stored_items=renamed)
    for entry in trip.deleted_entries.one_by_one():
        entry.rename(user_id, to, dropped)


def _drop_offsets_between(trip: Trip, both: set[int]) -> set[int]:
    """Delete what was offset between two people who become one: for this person, it is nothing.

    No debt between them is left that it could cover. Returns the ids, including those of offsets of
    deleted entries.
    """
    between = Settlement.with_offsets.filter(trip=trip, closing__isnull=False)
    offsets = between.filter(sender__in=both, receiver__in=both)
    dropped = set(offsets.values_list("pk", flat=True))
    delete_unread(offsets)
    for entry in trip.deleted_entries.one_by_one():
        dropped |= entry.offsets_between(both)
    return dropped


@receiver(person_sought)
def is_named(trip: Trip, user_id: int, **_about: object) -> bool:
    """Whether an entry that is not deleted names this person."""
    return any(
        model._base_manager.filter(trip=trip, **{column: user_id}).exists()
        for model, column in people_columns()
    )


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
        revoked = revoked_by_plugins(trip.pk, guest_id, is_deleted=True)
        trip.replace_person(guest_id, account.pk, role)
        User.objects.filter(pk=guest_id, is_guest=True).delete()
        guest = {"userId": guest_id, "role": DEFAULT_ROLE}
        now = {"userId": account.pk, "role": role}
        return [*revoked, *entries_between(Event.GUEST_CLAIMED, account.pk, guest, now)]
    joined = []
    if member.left_at is not None:
        member.readmit(role)
        joined = [Entry(Event.MEMBER_JOINED, account.pk, {"role": (None, role)})]
    return joined + Merge(trip, trip.members.get(user=guest_id), member).carry_out()
