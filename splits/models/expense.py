"""Expenses: what people put in, recorded, changed and taken back under the trip's lock."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from django.db import models
from django.db.models import Prefetch, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, ValidationError

from splits import money
from splits.models.book import Entry, Payer
from splits.models.division import (
    PERCENTAGE_WHOLE,
    Division,
    Money,
    Part,
    Payment,
    SplitType,
    entered_for,
    require_sum,
)
from splits.models.rate import ENTERED, Rate
from splits.models.settlement import today
from splits.models.split import Split
from tripcompanion.kit.currencies import MAX_AMOUNT, Amount, convert, to_major, to_minor
from tripcompanion.kit.inserting import insert
from tripcompanion.kit.prepared import Given, Prepared
from tripcompanion.kit.problems import Conflict
from trips.models import InTripQuerySet, Trip, locked_row, locked_trip
from trips.roles import Can
from users.models import User

#: Fields that, given to `change`, divide the expense anew.
_MONEY_FIELDS = {"entered_minor", "currency", "exchange_rate"}


class AlreadySplit(Conflict):
    """409 `already_split`: one split for a person."""

    default_code = "already_split"
    default_detail = gettext_lazy("This member has a split in this expense.")


class ExceedsExpense(Conflict):
    """409 `exceeds_expense`: the splits together are more than was spent."""

    default_code = "exceeds_expense"
    default_detail = gettext_lazy(
        "The splits would exceed the expense: %(left)s is left, not %(amount)s."
    )
    example_values: ClassVar = {"left": "10.00", "amount": "12.50"}


class DividedByHand(Conflict):
    """409 `divided_by_hand`: single splits were added or deleted, and a new division is not given.

    What was entered for the others no longer divides the expense.
    """

    default_code = "divided_by_hand"
    default_detail = gettext_lazy(
        "Splits of this expense were added or deleted by hand. To change its amount, currency or "
        "payers, say how it is divided."
    )


class Category(models.TextChoices):
    """What the money was for."""

    ACCOMMODATION = "ACCOMMODATION", gettext_lazy("accommodation")
    FOOD = "FOOD", gettext_lazy("food")
    TRANSPORT = "TRANSPORT", gettext_lazy("transport")
    ACTIVITIES = "ACTIVITIES", gettext_lazy("activities")
    OTHER = "OTHER", gettext_lazy("other")


class ExpenseQuerySet(InTripQuerySet["Expense"]):
    def with_trip(self) -> "ExpenseQuerySet":
        return self.select_related("trip")

    def shown(self) -> "ExpenseQuerySet":
        """With all that an answer shows: the currency, the payers, the splits with their state."""
        shown: dict[str, models.QuerySet[Any]] = {
            "payers": Payer.objects.shown(),
            "splits": Split.objects.with_state().order_by("id"),
        }
        return self.select_related("trip").prefetch_related(
            *(Prefetch(name, rows, f"shown_{name}") for name, rows in shown.items())
        )


class Expense(models.Model):
    """Money that members put in for all or some of them."""

    trip = models.ForeignKey(Trip, on_delete=models.CASCADE, related_name="expenses")
    #: Its place among all expenses ever recorded in the trip, from 0; it turns the odd cents.
    number = models.PositiveIntegerField(editable=False)
    description = models.CharField(max_length=255)
    #: In the trip's currency; the book reads this one.
    amount_minor = models.BigIntegerField()
    #: As entered, and in which currency; the rate is frozen, and null in the trip's currency.
    entered_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    exchange_rate = models.DecimalField(max_digits=24, decimal_places=15, null=True, blank=True)
    rate_source = models.CharField(max_length=10, blank=True, default="")
    rate_day = models.DateField(null=True, blank=True)
    expense_date = models.DateField()
    category = models.CharField(max_length=13, choices=Category, default=Category.OTHER)
    split_type = models.CharField(max_length=10, choices=SplitType)
    #: False once a split was added or deleted by itself: the parts are then no longer a division.
    divided = models.BooleanField(default=True, editable=False)
    receipt_url = models.CharField(max_length=2048, null=True, blank=True)  # noqa: DJ001
    notes = models.TextField(max_length=2000, blank=True, default="")
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ExpenseQuerySet.as_manager()

    caller_role: str
    # Set by `shown`.
    shown_payers: list[Payer]
    shown_splits: list[Split]

    class Meta:
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
        ]

    def __str__(self) -> str:
        return self.description

    @property
    def paid_by(self) -> User:
        """The first of those who put money in; of an expense that is `shown`."""
        return self.shown_payers[0].user

    def is_own(self, user: User, can: Can) -> bool:
        """Whether `user` created it or put money in."""
        return user.pk == self.created_by_id or self.payers.filter(user=user).exists()

    @classmethod
    def draft(cls, trip: Trip, by: User, **fields: Any) -> "Expense":
        """The next expense of `trip`, not written yet. `currency` defaults to the trip's.

        `exchange_rate` may be given for another currency; else the latest stored one is taken.
        Raises `NoRate`, and `ValidationError` on `amount` if it is nothing in the trip's.
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
        put_in: Mapping[int, int],
        division: Division,
        payers_field: str = "payers",
        **fields: Any,
    ) -> "Expense":
        """A new expense, as it is shown. `put_in` is who paid how many minor units.

        The first one comes first. Amounts are in the expense's currency, like `entered_minor`,
        and were entered for a trip in the currency of `trip`. Raises what `draft` raises,
        `CurrencyChanged`, and `ValidationError` on `payers`, `participantUserIds` or
        `splitAmounts` if somebody is no member or the sums do not fit.
        """
        with locked_trip(trip.pk, by, Can.RECORD) as locked:
            locked.require_currency(trip.currency)
            expense = cls.draft(locked, by, **fields)
            entry = Entry(expense)
            payments, parts = expense.divide(entry, put_in, division, payers_field)
            locked.count_expense()
            insert([expense])
            entry.rewrite(payments, parts)
            return shown_expenses(pk=expense.pk).get()

    def change(
        self,
        by: User,
        *,
        put_in: Mapping[int, int] | None = None,
        division: Mapping[str, Any] | None = None,
        payers_field: str = "payers",
        **fields: Any,
    ) -> "Expense":
        """Store what is given, keep the rest, and divide anew if money or people are touched.

        `division` holds those fields of a `Division` that are given. Another currency takes a
        new rate; otherwise the frozen one stays unless one is given, or None for the latest
        stored one. Gives the expense back as it is shown. Raises what `record` raises, and
        `DividedByHand`.
        """
        with self._locked(by, Can.CHANGE_EXPENSES) as stored:
            entry = Entry(stored)
            old = {name: getattr(stored, name) for name in _MONEY_FIELDS}
            for name, value in fields.items():
                setattr(stored, name, value)
            is_same_money = old == {name: getattr(stored, name) for name in _MONEY_FIELDS} and (
                put_in is None or list(put_in.items()) == list(entry.entered.items())
            )
            if stored.divided or not is_same_money or stored._is_other(entry, division or {}):
                if not stored.divided and not division:
                    raise DividedByHand
                if "exchange_rate" in fields or stored.currency != old["currency"]:
                    stored._fix_rate(fields.get("exchange_rate"))
                else:
                    stored._convert()
                new_division = stored._division_again(entry, division or {})
                payments, parts = stored.divide(
                    entry, put_in or stored._put_in_again(entry), new_division, payers_field
                )
                stored.divided = True
                entry.rewrite(payments, parts)
            stored.updated_at = timezone.now()
            stored.save()
            return shown_expenses(pk=stored.pk).get()

    def remove(self, by: User) -> None:
        """Delete the expense with its splits, and the settlements that `pay` recorded for them."""
        with self._locked(by, Can.CHANGE_EXPENSES) as stored:
            Entry(stored).rewrite({}, {})
            stored.delete()

    def add_split(
        self,
        by: User,
        participant_id: int,
        *,
        amount: Amount | None = None,
        percentage_e4: int = 0,
    ) -> Split:
        """Give one more member a part: an amount, or a percentage of the expense.

        Raises `ValidationError` if they are no member, `AlreadySplit` or
        `ExceedsExpense`.
        """
        with self._locked(by, Can.RECORD) as stored:
            stored.trip.require_members({"participantUserId": [participant_id]})
            entry = Entry(stored)
            if participant_id in entry.parts:
                raise AlreadySplit
            amount_minor = (
                _percentage_of(stored.amount_minor, percentage_e4, entry.left_minor)
                if amount is None
                else stored.trip.minor_units("amount", amount)
            )
            if amount_minor > entry.left_minor:
                raise ExceedsExpense(
                    left=to_major(entry.left_minor, stored.trip.currency),
                    amount=to_major(amount_minor, stored.trip.currency),
                )
            part = Part(amount_minor, percentage_e4=percentage_e4 or None)
            entry.rewrite(entry.put_in, {**entry.parts, participant_id: part})
            stored._divided_by_hand()
            return Split.objects.shown().get(expense=stored, participant=participant_id)

    def remove_split(self, split: Split, by: User) -> None:
        """Take one split out; what it covered falls to those who paid."""
        with self._locked(by, Can.DELETE_SPLITS) as stored:
            if not stored.splits.filter(pk=split.pk).exists():
                raise NotFound
            entry = Entry(stored)
            rest = {u: part for u, part in entry.parts.items() if u != split.participant_id}
            entry.rewrite(entry.put_in, rest)
            stored._divided_by_hand()

    def divide(
        self,
        entry: Entry,
        put_in: Mapping[int, int],
        division: Division,
        payers_field: str = "payers",
    ) -> tuple[dict[int, Payment], dict[int, Part]]:
        """What everybody paid and bears of it, in the trip's currency.

        Members only, but who is in the expense already may stay. Raises `ValidationError`;
        `payers_field` is where the payers stood in the body.
        """
        known = {*entry.put_in, *entry.parts}
        self.trip.require_members(
            {
                payers_field: [user_id for user_id in put_in if user_id not in known],
                "participantUserIds": [u for u in division.participants if u not in known],
            }
        )
        self.split_type = division.split_type
        require_sum(payers_field, put_in.values(), self.entered_minor, self.currency)
        paid = money.divide(self.amount_minor, put_in, self.number)
        payments = {user_id: Payment(paid[user_id], put_in[user_id]) for user_id in put_in}
        return payments, division.parts(self.money, self.number)

    @property
    def money(self) -> Money:
        return Money(self.amount_minor, self.entered_minor, self.currency)

    def _fix_rate(self, given: Decimal | None) -> None:
        """Freeze the rate to the trip's currency: the given one, else the latest stored."""
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
            text = _("This is %(amount)s %(currency)s, which is too little or too much.")
            amount = to_major(self.amount_minor, self.trip.currency)
            values = {"amount": amount, "currency": self.trip.currency}
            raise ValidationError({"amount": [text % values]})

    def _division_again(self, entry: Entry, given: Mapping[str, Any]) -> Division:
        """The stored division, with what is given instead."""
        stored = Division(
            self.split_type, tuple(entry.parts), entered_for(self.split_type, entry.parts)
        )
        if given.get("split_type", self.split_type) != self.split_type:
            given = {"entered": None, **given}
        return replace(stored, **given)

    def _is_other(self, entry: Entry, given: Mapping[str, Any]) -> bool:
        """Whether what is given of a division differs from the stored one."""
        stored = self._division_again(entry, {})
        kept = {
            "split_type": stored.split_type,
            "participants": set(stored.participants),
            "entered": stored.entered,
        }
        wanted = {**kept, **given}
        wanted["participants"] = set(wanted["participants"])
        return wanted != kept

    def _put_in_again(self, entry: Entry) -> dict[int, int]:
        """The payers for a changed amount: a single one paid it all; several must be given."""
        if len(entry.put_in) == 1:
            return dict.fromkeys(entry.put_in, self.entered_minor)
        return {user_id: payment.entered_minor for user_id, payment in entry.put_in.items()}

    def _locked(self, by: User, can: Can) -> AbstractContextManager["Expense"]:
        return locked_row(Expense.objects.all, by, can, trip_id=self.trip_id, pk=self.pk)

    def _divided_by_hand(self) -> None:
        self.divided = False
        self.updated_at = timezone.now()
        self.save(update_fields=["divided", "updated_at"])


@Prepared
def expenses_of(trip: Given) -> ExpenseQuerySet:
    """The expenses of a trip as they are shown, the newest first."""
    return Expense.objects.shown().filter(trip=trip).order_by("-expense_date", "-id")


@Prepared
def shown_expenses(pk: Given) -> ExpenseQuerySet:
    """The expense of this id, as it is shown."""
    return Expense.objects.shown().filter(pk=pk)


def _percentage_of(amount_minor: int, percentage_e4: int, left_minor: int) -> int:
    """The percentage in minor units, rounded half up, but not above what is left by rounding."""
    exact, half = amount_minor * percentage_e4, PERCENTAGE_WHOLE // 2
    rounded = (exact + half) // PERCENTAGE_WHOLE
    only_rounding = exact <= left_minor * PERCENTAGE_WHOLE + half
    return min(rounded, left_minor) if only_rounding else rounded
