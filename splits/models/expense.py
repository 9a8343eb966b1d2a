"""Expenses, which are recorded, changed and deleted under the trip's lock."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from decimal import Decimal
from operator import attrgetter
from typing import Any

from django.db import models
from django.db.models import Prefetch, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, ValidationError

from splits import money
from splits.models.conflicts import AlreadySplit, DividedByHand, ExceedsExpense, ExpenseChanged
from splits.models.deleted import DeletedEntry, DeletedKind
from splits.models.division import (
    Division,
    Money,
    Part,
    Payment,
    SplitType,
    entered_for,
    percentage_of,
    require_sum,
)
from splits.models.journal_fields import expense_fields, part_fields
from splits.models.posting import ExpensePosting, Payer
from splits.models.rate import ENTERED, Rate
from splits.models.settlement import today
from splits.models.split import Split
from tripcompanion.compiled.inserts import insert
from tripcompanion.currency.amounts import MAX_AMOUNT, Amount, convert, to_major, to_minor
from trips.models import InTripQuerySet, Trip, locked_row, locked_trip, notify
from trips.models.events import Event
from trips.models.trip import CurrencyChanged
from trips.roles import Can
from users.models import User, possible_readers

#: The fields that make `change` divide the expense again.
_MONEY_FIELDS = {"entered_minor", "currency", "exchange_rate"}


class Category(models.TextChoices):
    """What the money was spent on."""

    ACCOMMODATION = "ACCOMMODATION", gettext_lazy("accommodation")
    FOOD = "FOOD", gettext_lazy("food")
    TRANSPORT = "TRANSPORT", gettext_lazy("transport")
    ACTIVITIES = "ACTIVITIES", gettext_lazy("activities")
    OTHER = "OTHER", gettext_lazy("other")


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


class Expense(models.Model):
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
    #: In the trip's currency; this is the amount that the ledger uses.
    amount_minor = models.BigIntegerField()
    #: The amount and currency as entered; the rate is fixed, and null in the trip's currency.
    entered_minor = models.BigIntegerField()
    currency = models.CharField(gettext_lazy("currency"), max_length=3)
    exchange_rate = models.DecimalField(
        gettext_lazy("exchange rate"), max_digits=24, decimal_places=15, null=True, blank=True
    )
    rate_source = models.CharField(
        gettext_lazy("source of the rate"), max_length=10, blank=True, default=""
    )
    rate_day = models.DateField(gettext_lazy("day of the rate"), null=True, blank=True)
    expense_date = models.DateField(gettext_lazy("date"))
    category = models.CharField(
        gettext_lazy("category"), max_length=13, choices=Category, default=Category.OTHER
    )
    split_type = models.CharField(gettext_lazy("split type"), max_length=10, choices=SplitType)
    #: False once a single split was added or deleted: the parts are then no longer a division.
    divided = models.BooleanField(default=True, editable=False)
    #: What each of the people had who are one member now; see `splits.models.merged`.
    merged = models.TextField(default="", db_default="", editable=False)
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
        expense._fix_rate(expense.exchange_rate)
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
            posting = ExpensePosting(expense)
            payments, parts = expense.divide(posting, paid_by_user, division, payers_field)
            locked.count_expense()
            insert([expense])
            written = posting.write(payments, parts)
            shown = expense_fields(expense, payments, parts)
            posting.note(Event.EXPENSE_CREATED, by, {}, shown)
            if wanting := written._who_may_want_notices():
                written._notify("expense.created", Q(pk__in=wanting), by)
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
        with self._locked(by, Can.CHANGE_EXPENSES) as stored:
            self._require_same_meaning(stored, paid_by_user, division or {}, fields)
            posting = ExpensePosting(stored)
            payments, parts = posting.paid_by_user, posting.parts
            shown = expense_fields(stored, payments, parts)
            old = {name: getattr(stored, name) for name in _MONEY_FIELDS}
            for name, value in fields.items():
                setattr(stored, name, value)
            is_same_money = old == {name: getattr(stored, name) for name in _MONEY_FIELDS} and (
                paid_by_user is None
                or list(stored._paid(paid_by_user).items()) == list(posting.entered.items())
            )
            is_division = stored.divided and not stored.merged
            if is_division or not is_same_money or stored._is_other(posting, division or {}):
                if not stored.divided and not division:
                    raise DividedByHand
                if "exchange_rate" in fields or stored.currency != old["currency"]:
                    stored._fix_rate(fields.get("exchange_rate"))
                else:
                    stored._convert()
                new_division = stored._division_again(posting, division or {})
                payments, parts = stored.divide(
                    posting,
                    paid_by_user or stored._paid_by_user_again(posting),
                    new_division,
                    payers_field,
                )
                stored.divided = True
                posting.rewrite(payments, parts)
            changed = expense_fields(stored, payments, parts)
            if changed != shown:
                stored.updated_at = timezone.now()
            stored.save(update_fields=_CHANGEABLE)
            posting.note(Event.EXPENSE_CHANGED, by, shown, changed)
            stored._notify("expense.changed", posting.people(), by)
            return Expense.objects.with_details().get(pk=stored.pk)

    def remove(self, by: User) -> None:
        """Delete the expense with its splits, and the settlements that `pay` recorded for them.

        They are kept as they were, for `restore_expense`.
        """
        with self._locked(by, Can.CHANGE_EXPENSES) as stored:
            posting = ExpensePosting(stored)
            shown = expense_fields(stored, posting.paid_by_user, posting.parts)
            where = {"trip": stored.trip_id, "expense": stored.pk}
            payers = list(Payer.objects.filter(**where).order_by("id"))
            splits = list(Split.objects.with_open_amounts().defer(None).filter(**where))
            splits.sort(key=attrgetter("pk"))
            before = copy(stored)
            posting.rewrite({}, {})
            DeletedEntry.keep(
                stored.trip,
                DeletedKind.EXPENSE,
                stored.pk,
                states=[(split.open_minor, split.covered_at) for split in splits],
                expense=[before],
                payers=payers,
                splits=splits,
                settlements=posting.revoked,
                comments=stored.comments.order_by("id"),
            )
            posting.note(Event.EXPENSE_DELETED, by, shown, {})
            stored.delete()

    def add_split(
        self,
        by: User,
        participant_id: int,
        *,
        amount: Amount | None = None,
        percentage_e4: int = 0,
    ) -> Split:
        """Add a member's split: an amount, or a percentage of the expense.

        Raises `ValidationError` if they are not a member, `AlreadySplit` or `ExceedsExpense`.
        """
        with self._locked(by, Can.RECORD) as stored:
            stored.trip.require_members({"participantUserId": [participant_id]})
            posting = ExpensePosting(stored)
            if participant_id in posting.parts:
                raise AlreadySplit
            amount_minor = (
                percentage_of(stored.amount_minor, percentage_e4, posting.left_minor)
                if amount is None
                else stored.trip.minor_units("amount", amount)
            )
            if amount_minor > posting.left_minor:
                raise ExceedsExpense(
                    left=to_major(posting.left_minor, stored.trip.currency),
                    amount=to_major(amount_minor, stored.trip.currency),
                )
            part = Part(amount_minor, percentage_e4=percentage_e4 or None)
            posting.rewrite(posting.paid_by_user, {**posting.parts, participant_id: part})
            stored._divided_by_hand()
            split = Split.objects.with_details().get(expense=stored, participant=participant_id)
            shown = part_fields(participant_id, part, stored.trip.currency)
            posting.note(Event.SPLIT_ADDED, by, {}, shown, split.pk)
            stored._notify("expense.changed", posting.people(), by)
            return split

    def remove_split(self, split: Split, by: User) -> None:
        """Delete one split; the payers bear what it covered."""
        with self._locked(by, Can.DELETE_SPLITS) as stored:
            found = stored.splits.filter(trip=stored.trip_id, pk=split.pk)
            participant_ids = found.values_list("participant", flat=True)
            user_id = participant_ids.first()
            if user_id is None:
                raise NotFound
            posting = ExpensePosting(stored)
            rest = {u: part for u, part in posting.parts.items() if u != user_id}
            posting.rewrite(posting.paid_by_user, rest)
            stored._divided_by_hand()
            shown = part_fields(user_id, posting.parts[user_id], stored.trip.currency)
            posting.note(Event.SPLIT_DELETED, by, shown, {}, split.pk)
            stored._notify("expense.changed", posting.people(), by)

    def divide(
        self,
        posting: ExpensePosting,
        paid_by_user: Mapping[int, int | None],
        division: Division,
        payers_field: str = "payers",
    ) -> tuple[dict[int, Payment], dict[int, Part]]:
        """What each person paid and owes for it, in the trip's currency.

        Only members are allowed, except people who are already in the expense. Raises
        `ValidationError`; `payers_field` is the field of the body that had the payers.
        """
        known = {*posting.paid_by_user, *posting.parts}
        self.trip.require_members(
            {
                payers_field: [user_id for user_id in paid_by_user if user_id not in known],
                "participantUserIds": [u for u in division.participants if u not in known],
            }
        )
        self.split_type = division.split_type
        entered = self._paid(paid_by_user)
        require_sum(payers_field, entered.values(), self.entered_minor, self.currency)
        paid = money.divide(self.amount_minor, entered, self.number, self.trip.ranks)
        payments = {user_id: Payment(paid[user_id], entered[user_id]) for user_id in entered}
        return payments, division.parts(self.money, self.number, self.trip.ranks)

    def _paid(self, paid_by_user: Mapping[int, int | None]) -> dict[int, int]:
        """`paid_by_user` in minor units of the expense's currency."""
        return {
            user_id: self.entered_minor if minor is None else minor
            for user_id, minor in paid_by_user.items()
        }

    def _require_same_meaning(
        self,
        stored: "Expense",
        paid_by_user: Mapping[int, int | None] | None,
        division: Mapping[str, Any],
        fields: Mapping[str, Any],
    ) -> None:
        """Raise unless amounts given for this instance mean the same for `stored`."""
        split_type = division.get("split_type", self.split_type)
        parts = division.get("entered") if split_type == SplitType.MANUAL else None
        entered = [*(paid_by_user or {}).values(), fields.get("entered_minor"), parts]
        has_amounts = any(value is not None for value in entered)
        if has_amounts and "currency" not in fields and stored.currency != self.currency:
            raise CurrencyChanged(meant=self.currency, currency=stored.currency)
        is_same_type = stored.split_type == self.split_type
        if "entered" in division and "split_type" not in division and not is_same_type:
            raise ExpenseChanged

    @property
    def money(self) -> Money:
        return Money(self.amount_minor, self.entered_minor, self.currency)

    def _fix_rate(self, given: Decimal | None) -> None:
        """Set the rate to the trip's currency: the given one, else the latest stored."""
        if self.currency == self.trip.currency:
            self.exchange_rate, self.rate_source, self.rate_day = None, "", None
        elif given is not None:
            self.exchange_rate, self.rate_source = given, ENTERED
            self.rate_day = today()
        else:
            rates = Rate.objects.latest_to(self.trip.currency, [self.currency])
            self.exchange_rate, self.rate_source, self.rate_day = rates[self.currency]
        self._convert()

    def _convert(self) -> None:
        self.amount_minor = self.entered_minor
        if self.exchange_rate is not None:
            self.amount_minor = convert(
                self.entered_minor, self.currency, self.trip.currency, self.exchange_rate
            )
        if not 0 < self.amount_minor <= to_minor(MAX_AMOUNT, self.trip.currency):
            text = _("This is %(amount)s %(currency)s, which is too small or too large.")
            amount = to_major(self.amount_minor, self.trip.currency)
            values = {"amount": amount, "currency": self.trip.currency}
            raise ValidationError({"amount": [text % values]})

    def _division_again(self, posting: ExpensePosting, given: Mapping[str, Any]) -> Division:
        """The stored division, updated with the given fields."""
        stored = Division(
            self.split_type, tuple(posting.parts), entered_for(self.split_type, posting.parts)
        )
        if given.get("split_type", self.split_type) != self.split_type:
            given = {"entered": None, **given}
        return replace(stored, **given)

    def _is_other(self, posting: ExpensePosting, given: Mapping[str, Any]) -> bool:
        """Whether the given fields of a division differ from the stored ones."""
        stored = self._division_again(posting, {})
        kept = {
            "split_type": stored.split_type,
            "participants": set(stored.participants),
            "entered": stored.entered,
        }
        wanted = {**kept, **given}
        wanted["participants"] = set(wanted["participants"])
        return wanted != kept

    def _paid_by_user_again(self, posting: ExpensePosting) -> dict[int, int]:
        """The payers for a changed amount: a single payer paid it all; several must be given."""
        if len(posting.paid_by_user) == 1:
            return dict.fromkeys(posting.paid_by_user, self.entered_minor)
        return {user_id: payment.entered_minor for user_id, payment in posting.paid_by_user.items()}

    def _locked(self, by: User, can: Can) -> AbstractContextManager["Expense"]:
        return locked_row(Expense.objects.all, by, can, trip_id=self.trip_id, pk=self.pk)

    def _who_may_want_notices(self) -> set[int]:
        """The people in an expense that was just written; it takes no statement."""
        people = [payer.user for payer in self.loaded_payers]
        people += [split.participant for split in self.loaded_splits]
        return possible_readers(people)

    def _notify(self, event: str, people: Q, by: User) -> None:
        notify(event, people, by=by, trip_id=self.trip_id, expense_id=self.pk)

    def _divided_by_hand(self) -> None:
        self.divided = False
        self.updated_at = timezone.now()
        self.save(update_fields=["divided", "merged", "updated_at"])


#: The columns that a change may write. Citus refuses to write the trip, even if it stays the same.
_CHANGEABLE = [
    field.name
    for field in Expense._meta.local_concrete_fields
    if not field.primary_key and field.name not in {"trip", "number", "created_by", "created_at"}
]
