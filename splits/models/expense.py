"""Expenses, which are recorded, changed and deleted under the trip's lock."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from copy import copy
from operator import attrgetter
from typing import Any

from django.db import models
from django.db.models import Prefetch, Q
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy

from splits.models.category import Category
from splits.models.converted_amount import ConvertedAmount
from splits.models.deleted import DeletedEntry, DeletedKind
from splits.models.division import Division, Money, Part, Payment, SplitType
from splits.models.expense_change import ExpenseChange
from splits.models.journal_fields import expense_fields
from splits.models.payer import Payer
from splits.models.posting import ExpensePosting
from splits.models.settlement import Allocation, Debt, Settlement
from splits.models.split import Split
from trips.models import InTripQuerySet, Trip, locked_row, locked_trip, notify
from trips.models.events import Event
from trips.models.trip import ranks_in
from trips.roles import Can
from users.models import User, possible_readers


class ExpenseQuerySet(InTripQuerySet["Expense"]):
    def with_trip(self) -> "ExpenseQuerySet":
        return self.select_related("trip")

    def with_details(self) -> "ExpenseQuerySet":
        """With all that a response contains: currency, payers, and splits with their state."""
        shown: dict[str, models.QuerySet[Any]] = {
            "payers": Payer.objects.with_details(),
            "splits": Split.objects.with_open_amounts().order_by("id"),
        }
        return self.select_related("trip").prefetch_related(
            *(Prefetch(name, rows, f"loaded_{name}") for name, rows in shown.items())
        )


class Expense(ConvertedAmount):
    """Money that members paid for all or some of them."""

    trip = models.ForeignKey(
        Trip,
        on_delete=models.CASCADE,
        related_name="expenses",
        db_index=False,
        verbose_name=gettext_lazy("trip"),
    )
    #: Its position among all expenses ever recorded in the trip, from 0; rotates the odd cents.
    number = models.PositiveIntegerField(editable=False)
    description = models.CharField(gettext_lazy("description"), max_length=255)
    expense_date = models.DateField(gettext_lazy("date"))
    category = models.CharField(
        gettext_lazy("category"), max_length=13, choices=Category, default=Category.OTHER
    )
    split_type = models.CharField(gettext_lazy("split type"), max_length=10, choices=SplitType)
    #: False once a single split was added or deleted: the parts are then no longer a division.
    divided = models.BooleanField(default=True, editable=False)
    #: Guests in it who were merged with a member since: "17:11" says that 17 was guest 11.
    merged_guests = models.TextField(default="", db_default="", editable=False)
    receipt_url = models.CharField(  # noqa: DJ001 -- as in the API
        gettext_lazy("receipt URL"), max_length=2048, null=True, blank=True
    )
    notes = models.TextField(gettext_lazy("notes"), max_length=2000, blank=True, default="")
    created_by = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+", verbose_name=gettext_lazy("recorded by")
    )
    created_at = models.DateTimeField(
        gettext_lazy("created at"), default=timezone.now, editable=False
    )
    updated_at = models.DateTimeField(
        gettext_lazy("updated at"), default=timezone.now, editable=False
    )

    objects = ExpenseQuerySet.as_manager()

    caller_role: str
    # Set by `with_details`.
    loaded_payers: list[Payer]
    loaded_splits: list[Split]

    class Meta:
        verbose_name = gettext_lazy("expense")
        verbose_name_plural = gettext_lazy("expenses")
        constraints = [
            models.CheckConstraint(
                condition=Q(amount_minor__gt=0, entered_minor__gt=0), name="expense_positive"
            ),
            models.CheckConstraint(
                condition=Q(exchange_rate=None) | Q(exchange_rate__gt=0),
                name="expense_rate_positive",
            ),
            models.UniqueConstraint(fields=["trip", "number"], name="expense_number_in_trip"),
        ]
        indexes = [
            models.Index(fields=["trip", "-expense_date", "-id"], name="expense_newest"),
            models.Index(fields=["trip", "amount_minor"], name="expense_by_amount"),
            models.Index(fields=["trip", "created_at"], name="expense_by_creation"),
            # For sums by month that read no row.
            models.Index(
                fields=["created_at", "currency", "entered_minor"], name="expense_sums_by_day"
            ),
        ]

    def __str__(self) -> str:
        return self.description

    @property
    def paid_by(self) -> User:
        """The first payer; for an expense read `with_details`."""
        return self.loaded_payers[0].user

    @cached_property
    def ranks(self) -> Mapping[int, int]:
        """The ids of former guests by the id of who took their place; see `Trip.ranks`."""
        if not self.merged_guests:
            return self.trip.ranks
        return ranks_in(self.merged_guests, self.trip.claimed_guests)

    @property
    def money(self) -> Money:
        return Money(self.amount_minor, self.entered_minor, self.currency)

    def is_own(self, user: User, can: Can) -> bool:
        """Whether `user` created it or is a payer."""
        payers = self.payers.filter(trip=self.trip_id, user=user)
        return user.pk == self.created_by_id or payers.exists()

    @classmethod
    def draft(cls, trip: Trip, by: User, **fields: Any) -> "Expense":
        """The next expense of `trip`, unsaved. `currency` defaults to the trip's.

        For another currency, `exchange_rate` defaults to the latest stored rate.
        Raises `NoRate`, and `ValidationError` on `amount` if it converts to too little or too much.
        """
        fields.setdefault("currency", trip.currency)
        expense = cls(trip=trip, created_by=by, number=trip.expenses_recorded, **fields)
        expense.fix_rate(expense.exchange_rate)
        return expense

    @classmethod
    def record(
        cls,
        trip: Trip,
        by: User,
        *,
        paid_by_user: Mapping[int, int | None],
        division: Division,
        payers_field: str = "payers",
        **fields: Any,
    ) -> "Expense":
        """Create an expense and return it with details. `paid_by_user` is in minor units.

        Its order is kept; None means the whole amount. Amounts are in the expense's currency, like
        `entered_minor`, and were entered for a trip in the currency of `trip`.
        Raises what `draft` raises, `CurrencyChanged`, and `ValidationError` on `payers`,
        `participantUserIds` or `splitAmounts` if somebody is not a member or the sums do not fit.
        """
        with locked_trip(trip.pk, by, Can.RECORD) as locked:
            locked.require_currency(trip.currency)
            expense = cls.draft(locked, by, **fields)
            payments, parts = expense.divide(paid_by_user, division, payers_field)
            locked.count_expense()
            written = ExpensePosting.record(expense, payments, parts, by)
            if wanting := written._who_may_want_notices():
                written.notify("expense.created", Q(pk__in=wanting), by)
            return written

    def change(
        self,
        by: User,
        *,
        paid_by_user: Mapping[int, int | None] | None = None,
        division: Mapping[str, Any] | None = None,
        payers_field: str = "payers",
        **fields: Any,
    ) -> "Expense":
        """Store the given fields, and divide again if money or people change.

        `division` holds the given fields of a `Division`. Another currency gets a new rate;
        otherwise the fixed rate stays unless one is given, or None for the latest stored one.
        Amounts given without a currency or a split type refer to this instance as it was read.
        Returns the expense with details. Raises what `record` raises, `ExpenseChanged`, and
        `DividedByHand`.
        """
        change = ExpenseChange(self, fields, paid_by_user, division or {})
        with self.locked(by, Can.CHANGE_EXPENSES) as stored:
            posting = ExpensePosting(stored)
            payments, parts = posting.paid_by_user, posting.parts
            shown = expense_fields(stored, payments, parts)
            if change.apply(posting):
                payments, parts = stored.divide(
                    change.payers(posting),
                    change.division_of(posting),
                    payers_field,
                    known={*payments, *parts},
                )
                stored.divided = True
                posting.rewrite(payments, parts)
            changed = expense_fields(stored, payments, parts)
            if changed != shown:
                stored.updated_at = timezone.now()
            stored.save(update_fields=_CHANGEABLE)
            posting.note(Event.EXPENSE_CHANGED, by, shown, changed)
            stored.notify("expense.changed", posting.people(), by)
            return Expense.objects.with_details().get(pk=stored.pk)

    def remove(self, by: User) -> None:
        """Delete the expense with its splits, and the settlements that `pay` recorded for them.

        They are kept as they were, for `restore_expense`.
        """
        with self.locked(by, Can.CHANGE_EXPENSES) as stored:
            posting = ExpensePosting(stored)
            shown = expense_fields(stored, posting.paid_by_user, posting.parts)
            where = {"trip": stored.trip_id, "expense": stored.pk}
            payers = list(Payer.objects.filter(**where).order_by("id"))
            splits = list(Split.objects.with_open_amounts().defer(None).filter(**where))
            splits.sort(key=attrgetter("pk"))
            before = copy(stored)
            split_ids = [split.pk for split in splits]
            paying = Settlement.objects.filter(trip=stored.trip_id, split__in=split_ids)
            settlement_ids = list(paying.values_list("pk", flat=True))
            allocations = Allocation.objects.of(stored.trip_id, split_ids, settlement_ids)
            debts = list(Debt.objects.filter(trip=stored.trip_id, split__in=split_ids))
            posting.rewrite({}, {})
            DeletedEntry.keep(
                stored.trip,
                DeletedKind.EXPENSE,
                stored.pk,
                allocations,
                states=[(split.open_minor, split.covered_at) for split in splits],
                expense=[before],
                payers=payers,
                splits=splits,
                debts=debts,
                settlements=posting.revoked,
                comments=stored.comments.order_by("id"),
            )
            posting.note(Event.EXPENSE_DELETED, by, shown, {})
            stored.delete()

    def divide(
        self,
        paid_by_user: Mapping[int, int | None],
        division: Division,
        payers_field: str = "payers",
        known: Collection[int] = (),
    ) -> tuple[dict[int, Payment], dict[int, Part]]:
        """What each person paid and owes for it, in the trip's currency.

        Only members are allowed, except for the people in `known`, who are already in the expense.
        Raises `ValidationError`; `payers_field` is the field of the body that had the payers.
        """
        self.trip.require_members(
            {
                payers_field: [user_id for user_id in paid_by_user if user_id not in known],
                "participantUserIds": [u for u in division.participants if u not in known],
            }
        )
        self.split_type = division.split_type
        entered = self.entered_by(paid_by_user)
        turn = (self.number, self.ranks)
        return division.payments_and_parts(self.money, entered, *turn, payers_field)

    def entered_by(self, paid_by_user: Mapping[int, int | None]) -> dict[int, int]:
        """`paid_by_user` in minor units of the expense's currency; None is the whole amount."""
        return {
            user_id: self.entered_minor if minor is None else minor
            for user_id, minor in paid_by_user.items()
        }

    def locked(self, by: User, can: Can) -> AbstractContextManager["Expense"]:
        """The expense as it is now, under its trip's lock; see `locked_row`."""
        return locked_row(Expense.objects.all, by, can, trip_id=self.trip_id, pk=self.pk)

    def _who_may_want_notices(self) -> set[int]:
        """The people in an expense that was just written; it takes no statement."""
        people = [payer.user for payer in self.loaded_payers]
        people += [split.participant for split in self.loaded_splits]
        return possible_readers(people)

    def notify(self, event: str, people: Q, by: User) -> None:
        """Mail those of `people` who want to know of what `by` did."""
        notify(event, people, by=by, trip_id=self.trip_id, expense_id=self.pk)

    def divided_by_hand(self) -> None:
        """Save that the splits are no longer a division, after one was added or deleted."""
        self.divided = False
        self.updated_at = timezone.now()
        self.save(update_fields=["divided", "updated_at"])


#: The columns that a change may write. Citus refuses to write the trip, even if it stays the same.
_CHANGEABLE = [
    field.name
    for field in Expense._meta.local_concrete_fields
    if not field.primary_key and field.name not in {"trip", "number", "created_by", "created_at"}
]
