"""Merging a guest with another member: the entries of both become those of one."""

from collections import Counter, defaultdict
from typing import Any

from django.db.models import Exists, Model, OuterRef, Prefetch, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from splits.models.deleted_people import merge_in_deleted
from splits.models.division import Part
from splits.models.expense import Expense
from splits.models.journal_fields import expense_fields, settlement_entries
from splits.models.merged import merge_people, parts_of, payments_of
from splits.models.payer import Payer
from splits.models.period import ClosedPeriod, ClosedSum, reopen
from splits.models.settlement import Allocation, Debt, Settlement, sums_of
from splits.models.split import Split
from tripcompanion.compiled.deletes import delete_unread
from tripcompanion.compiled.inserts import insert
from tripcompanion.kit.problems import Conflict
from trips.models import Invitation, Member, Trip, locked_row
from trips.models.events import Event
from trips.models.journal import Entry, entries_between, write
from trips.models.member import KEPT_SUMS
from trips.roles import Can
from users.models import User

#: Every column that names a person of the ledger. Guests record nothing, so `created_by` is none.
PEOPLE: tuple[tuple[type[Model], str], ...] = (
    (Payer, "user"),
    (Split, "participant"),
    (Debt, "debtor"),
    (Debt, "creditor"),
    (Settlement, "sender"),
    (Settlement, "receiver"),
)
#: Rows per statement, where each row is changed differently.
BATCH_ROWS = 500


class NotAGuest(Conflict):
    """409 `not_a_guest`: a member with an account is not merged with another."""

    default_code = "not_a_guest"
    default_detail = gettext_lazy("This member has an account; only a guest can be merged.")


class Merge:
    """A guest, and the member who gets their entries. Use it under the lock of the trip.

    Settlements and debts between the two vanish. No amount that anybody else paid, bears, owes or
    is owed changes, and the balance of the member becomes the sum of both.
    """

    def __init__(self, trip: Trip, guest: Member, member: Member) -> None:
        self.trip, self.guest, self.member = trip, guest, member
        self.balance_before_minor = member.balance_minor
        self.balance_after_minor = member.balance_minor + guest.balance_minor
        self._both = [guest.user_id, member.user_id]
        #: The split of the member by that of the guest, in expenses in which both have one.
        self._twins: dict[int, int] = {}
        #: How many expenses and settlements name the guest.
        self.expense_count = self._expenses_with(guest).count()
        sides = Q(sender=guest.user_id) | Q(receiver=guest.user_id)
        self.settlement_count = Settlement.objects.filter(sides, trip=trip).count()

    @classmethod
    def order(cls, guest: Member, by: User, user_id: int, *, dry_run: bool = False) -> "Merge":
        """Merge `guest` with the present member `user_id`; with `dry_run`, change nothing.

        Raises `NotAGuest`, and `ValidationError` on `userId` if there is no such other member.
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

        Returns what the journal notes: settlements that vanish, expenses that named both,
        invitations that named the guest, and last the merge, after which everything else of the
        guest is the member's.
        """
        # Debts that are added up or vanish get their closed amounts as allocations first.
        self._debts_in_common().itemise()
        self._keep_what_was_closed()
        currency = self.trip.currency
        between = self._settlements_between().order_by("pk")
        vanished = settlement_entries(Event.SETTLEMENT_DELETED, between, currency)
        dropped = self._drop_what_is_between()
        changed = self._merge_expenses()
        for model, column in PEOPLE:
            guest: dict[str, Any] = {"trip": self.trip, column: self.guest.user_id}
            rows: QuerySet = model._default_manager.filter(**guest)
            rows.update(**{column: self.member.user_id})
        merge_in_deleted(self.trip, self.guest.user_id, self.member.user_id, self._twins)
        self._add_sums(dropped)
        invitations = Invitation.objects.filter(trip=self.trip, guest=self.guest.user_id)
        revoked = invitations.withdraw()
        self.guest.delete()
        User.objects.filter(pk=self.guest.user_id, is_guest=True).delete()
        ids = {"userId": (self.guest.user_id, self.member.user_id)}
        merged = Entry(Event.GUEST_MERGED, self.member.user_id, ids)
        return [*vanished, *changed, *revoked, merged]

    def _expenses_with(self, member: Member) -> QuerySet[Expense]:
        same = {"trip": self.trip, "expense": OuterRef("pk")}
        paid = Exists(Payer.objects.filter(user=member.user_id, **same))
        shared = Exists(Split.objects.filter(participant=member.user_id, **same))
        return Expense.objects.filter(paid | shared, trip=self.trip)

    def _rows(self, model: type[Model]) -> Any:
        """All rows of this model in the trip."""
        return model._default_manager.filter(trip=self.trip)

    def _debts_in_common(self) -> Any:
        """What the two owe or are owed for expenses that name both."""
        with_guest, with_member = map(self._expenses_with, (self.guest, self.member))
        in_common = with_guest.filter(pk__in=with_member.values("pk"))
        sides = Q(debtor__in=self._both) | Q(creditor__in=self._both)
        splits = Split.objects.filter(trip=self.trip, expense__in=in_common.values("pk"))
        return Debt.objects.filter(sides, trip=self.trip, split__in=splits.values("pk"))

    def _settlements_between(self) -> Any:
        sides = {"sender__in": self._both, "receiver__in": self._both}
        return Settlement.objects.filter(trip=self.trip, **sides)

    def _keep_what_was_closed(self) -> None:
        """Leave closed what a settlement between the two closed: name another as the cause.

        It is the one before, or else the one after. If there is no other, all is open again.
        """
        between = self._settlements_between()
        periods = ClosedPeriod.objects.filter(trip=self.trip)
        closing = between.filter(Exists(periods.filter(settlement=OuterRef("pk"))))
        others = Settlement.objects.filter(trip=self.trip).exclude(pk__in=between.values("pk"))
        before = others.filter(pk__lt=OuterRef("pk")).order_by("-pk").values("pk")[:1]
        after = others.filter(pk__gt=OuterRef("pk")).order_by("pk").values("pk")[:1]
        named = closing.annotate(heir=Coalesce(Subquery(before), Subquery(after)))
        heirs: dict[int, Any] = dict(named.values_list("pk", "heir"))
        if None in heirs.values():
            reopen(self.trip.pk, closing)
            allocations = Allocation.objects.filter(trip=self.trip)
            allocations.filter(closed_by__in=list(heirs)).release(self.trip.pk)
            heirs = {}
        for settlement, heir in heirs.items():
            periods.filter(settlement=settlement).update(settlement=heir)
            closed = Allocation.objects.filter(trip=self.trip, closed_by=settlement)
            closed.update(closed_by=heir)
        self._merge_closed_sums(heirs)

    def _merge_closed_sums(self, heirs: dict[int, int]) -> None:
        """Add up what was closed of the two, and what `heirs` closed in place of others."""
        named = Q(settlement__in={*heirs, *heirs.values()}) | Q(
            member__in=[self.guest, self.member]
        )
        of_trip = ClosedSum.objects.filter(trip=self.trip)
        stored = list(of_trip.filter(named))
        sums: Counter[tuple[int, int]] = Counter()
        for row in stored:
            member = self.member.pk if row.member_id == self.guest.pk else row.member_id
            sums[heirs.get(row.settlement_id, row.settlement_id), member] += row.owed_minor
        of_trip.filter(pk__in=[row.pk for row in stored]).delete()
        insert(
            ClosedSum(
                trip=self.trip, settlement_id=settlement, member_id=member, owed_minor=owed_minor
            )
            for (settlement, member), owed_minor in sums.items()
        )

    def _drop_what_is_between(self) -> Counter[str]:
        """Delete the debts and settlements between the two; return the sums that they had."""
        sides = {"debtor__in": self._both, "creditor__in": self._both}
        debts = Debt.objects.filter(trip=self.trip, **sides)
        owed_minor = debts.aggregate(sum=Coalesce(Sum("open_minor"), 0))["sum"]
        dropped = Counter(owed_minor=owed_minor)
        for moved in sums_of(self._settlements_between(), []).values():
            dropped += moved
        delete_unread(debts)
        delete_unread(self._settlements_between())
        return dropped

    def _merge_expenses(self) -> list[Entry]:
        """Add up payments, parts and debts in expenses that name both; returns what changed."""
        rows = (
            Prefetch(
                name,
                model._default_manager.filter(trip=self.trip).order_by("id"),
                f"loaded_{name}",
            )
            for name, model in (("payers", Payer), ("splits", Split))
        )
        expenses: list[Expense] = []
        payers: list[Payer] = []
        splits: list[Split] = []
        entries: list[Entry] = []
        gone_payers: list[int] = []
        twins = self._twins
        for expense in self._expenses_with(self.guest).order_by("pk").prefetch_related(*rows):
            expense.trip = self.trip
            before = expense_fields(expense, payments_of(expense), parts_of(expense))
            parts, payments = merge_people(expense, *self._both)
            expenses.append(expense)
            by_user = {split.participant_id: split for split in expense.loaded_splits}
            pair = [payer for payer in expense.loaded_payers if payer.user_id in self._both]
            names_both = {*self._both} <= {*by_user, *(p.user_id for p in expense.loaded_payers)}
            if names_both:
                after = expense_fields(expense, payments, parts)
                event = Event.EXPENSE_CHANGED
                entries += entries_between(event, expense.pk, before, after, expense.pk)
            if len(pair) > 1:
                pair[0].amount_minor, pair[0].entered_minor = payments[self.member.user_id]
                payers.append(pair[0])
                gone_payers.append(pair[1].pk)
            if {*self._both} <= by_user.keys():
                twins[by_user.pop(self.guest.user_id).pk] = by_user[self.member.user_id].pk
                for user_id, split in by_user.items():
                    for name, value in parts[user_id]._asdict().items():
                        setattr(split, name, value)
                    splits.append(split)
        self._rows(Expense).bulk_update(expenses, ["split_type", "merged"], BATCH_ROWS)
        self._rows(Payer).bulk_update(payers, ["amount_minor", "entered_minor"], BATCH_ROWS)
        self._rows(Split).bulk_update(splits, Part._fields, BATCH_ROWS)
        self._merge_debts(twins)
        self._rows(Payer).filter(pk__in=gone_payers).delete()
        delete_unread(self._rows(Split).filter(pk__in=list(twins)))
        return entries

    def _merge_debts(self, twins: dict[int, int]) -> None:
        """Move the debts of splits to their `twins`; add up those to the same creditor."""
        guest_id, user_id = self._both
        groups: dict[tuple[int, int], list[Debt]] = defaultdict(list)
        for debt in self._debts_in_common().order_by("id"):
            creditor_id = user_id if debt.creditor_id == guest_id else debt.creditor_id
            groups[twins.get(debt.split_id, debt.split_id), creditor_id].append(debt)
        gone: dict[int, int] = {}
        for (split_id, _creditor_id), (kept, *others) in groups.items():
            kept.split_id = split_id
            for other in others:
                gone[other.pk] = kept.pk
                kept.amount_minor += other.amount_minor
                kept.open_minor += other.open_minor
                covered = [kept.covered_at, other.covered_at]
                kept.covered_at = None if None in covered else max(filter(None, covered))
                kept.period = self.trip.period
        allocations: Any = list(self._rows(Allocation).filter(debt__in=list(gone)))
        for allocation in allocations:
            allocation.debt_id = gone[allocation.debt_id]
        self._rows(Allocation).bulk_update(allocations, ["debt"], BATCH_ROWS)
        delete_unread(self._rows(Debt).filter(pk__in=list(gone)))
        columns = ["split", "amount_minor", "open_minor", "covered_at", "period"]
        self._rows(Debt).bulk_update([rows[0] for rows in groups.values()], columns, BATCH_ROWS)
        of_trip = self._rows(Settlement)
        settlements: Any = list(of_trip.filter(split__in=list(twins)).only("split"))
        for settlement in settlements:
            settlement.split_id = twins[settlement.split_id]
        of_trip.bulk_update(settlements, ["split"], BATCH_ROWS)

    def _add_sums(self, dropped: Counter[str]) -> None:
        """Add the guest's sums, without those `dropped`, to the member's."""
        for member in (self.guest, self.member):
            member.refresh_from_db(fields=KEPT_SUMS)
        for name in KEPT_SUMS:
            sum_minor = getattr(self.member, name) + getattr(self.guest, name) - dropped[name]
            setattr(self.member, name, sum_minor)
        self.member.save(update_fields=KEPT_SUMS)
