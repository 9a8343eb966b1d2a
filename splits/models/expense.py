"""Expenses, which are recorded, changed and deleted under the trip's lock."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from operator import attrgetter
from typing import Any, ClassVar

from django.db import models
from django.db.models import Prefetch, Q
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy

from splits.models.conflicts import DividedByHand, ExpenseChanged
from splits.models.deleted import DeletedEntry, DeletedKind
from splits.models.division import (
    ENTERED_COLUMN,
    OF_AMOUNTS,
    SPLIT_TYPES,
    Division,
    Money,
    Part,
    Payment,
    SplitType,
    entered_for,
)
from splits.models.in_trip import added_rows
from splits.models.items import SCALE, Items, load_items
from splits.models.payer import Payer
from splits.models.plugin_fields import plugin_fields, store_plugin_fields, with_plugin_fields
from splits.models.posting import ExpensePosting
from splits.models.rate import ExchangeRate, in_trip_currency
from splits.models.settlement import Settlement
from splits.models.split import Split
from splits.money import Places, parse_places
from tripcompanion.compiled import insert
from tripcompanion.currency.amounts import all_to_major, to_major
from trips.models import InTripQuerySet, Trip, locked_row, locked_trip, trip_key
from trips.models.category import Category
from trips.models.client_ids import ClientNamed
from trips.models.conflicts import CurrencyChanged
from trips.models.events import Event
from trips.models.journal import entries_between, plain_values, write
from trips.roles import Can, Capability
from trips.signals import happened
from users.models import Mail, User


class ExpenseQuerySet(InTripQuerySet["Expense"]):
    def with_trip(self) -> "ExpenseQuerySet":
        return self.select_related("trip")

    def with_details(self) -> "ExpenseQuerySet":
        """With all that a response contains: currency, payers, splits, and fields of plugins."""
        relations: dict[str, models.QuerySet[Any]] = {
            "payers": Payer.objects.with_details(),
            "splits": Split.objects.with_open_amounts().order_by("id"),
        }
        return with_plugin_fields(self.select_related("trip")).prefetch_related(
            *(Prefetch(name, rows, f"loaded_{name}") for name, rows in relations.items())
        )


class Expense(ClientNamed):
    """Money that members paid for all or some of them.

    The amount of a refund is negative, and so are all parts of it. Its payer received the money and
    owes it to the participants.
    """

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
    trip = trip_key("expenses", db_index=False)
    #: Its position among all expenses ever recorded in the trip, from 0; it decides who gets odd
    #: cents.
    number = models.PositiveIntegerField(editable=False)
    description = models.CharField(gettext_lazy("description"), max_length=255)
    expense_date = models.DateField(gettext_lazy("date"))
    category = models.CharField(
        gettext_lazy("category"), max_length=13, choices=Category, default=Category.OTHER
    )
    split_type = models.CharField(gettext_lazy("split type"), max_length=10, choices=SplitType)
    #: The items of ITEMIZED as JSON, see `Items.text`; null for other split types.
    stored_items = models.TextField(  # noqa: DJ001 -- "" is no JSON
        null=True, default=None, editable=False
    )
    #: False once a single split was added or deleted: then the parts no longer follow the division.
    divided = models.BooleanField(default=True, editable=False)
    #: Whose place in the expense others took since, in the order of time: "17:11" says that 17 was
    #: guest 11.
    merged_guests = models.TextField(default="", db_default="", editable=False)
    receipt_url = models.CharField(  # noqa: DJ001 -- as in the API
        gettext_lazy("receipt URL"), max_length=2048, null=True, blank=True
    )
    notes = models.TextField(gettext_lazy("notes"), max_length=2000, blank=True, default="")
    #: In the order in which they were entered; see `clean_tags`.
    tags = models.JSONField(gettext_lazy("tags"), blank=True, default=list, db_default=[])
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

    #: See `plain_fields`: the rate has other names in the API, and goes with the currency.
    special_columns: ClassVar = {"currency", "exchange_rate", "rate_source", "rate_day"}
    caller_role: str
    # Set by `with_details`.
    loaded_payers: list[Payer]
    loaded_splits: list[Split]
    #: Set by `preview_of`: what would be owed, as unsaved settlements.
    debts: list[Settlement]

    class Meta:
        verbose_name = gettext_lazy("expense")
        verbose_name_plural = gettext_lazy("expenses")
        constraints = [
            models.CheckConstraint(
                condition=Q(amount_minor__gt=0, entered_minor__gt=0)
                | Q(amount_minor__lt=0, entered_minor__lt=0),
                name="expense_amounts_of_one_sign",
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
            # Only in these may payers bear what no split covers.
            models.Index(
                fields=["trip", "expense_date"],
                condition=Q(divided=False),
                name="expense_undivided",
            ),
            # For sums by month, which read only the index.
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

    @property
    def participant_user_ids(self) -> list[int] | None:
        """Among whom it was divided; None if splits were made by hand. For one `with_details`."""
        return [split.participant_id for split in self.loaded_splits] if self.is_division else None

    @property
    def split_amounts(self) -> dict[str, Decimal] | None:
        """What was entered, by user id; None if nothing was. For an expense `with_details`."""
        if not self.is_division:
            return None
        column = ENTERED_COLUMN.get(self.split_type)
        if column is None:
            return None
        values = {str(row.participant_id): getattr(row, column) for row in self.loaded_splits}
        is_money = self.split_type in OF_AMOUNTS
        return {
            user_id: to_major(value, self.currency) if is_money else Decimal(value) / SCALE
            for user_id, value in values.items()
            if value is not None
        }

    @cached_property
    def places(self) -> Places:
        """Where those who took somebody's place stand in the order of odd cents.

        They stand where the other stood, so that neither a claim nor a merge changes an amount.
        """
        return parse_places(self.trip.claimed_guests, self.merged_guests)

    @property
    def money(self) -> Money:
        return Money(self.amount_minor, self.entered_minor, self.currency)

    @property
    def rate(self) -> ExchangeRate | None:
        """The rate to the trip's currency; None if the expense is in that currency."""
        if self.exchange_rate is None or self.rate_day is None:
            return None
        return ExchangeRate(self.exchange_rate, self.rate_source, self.rate_day)

    def is_own(self, user: User, can: Capability) -> bool:
        payers = self.payers.filter(trip=self.trip_id, user=user)
        return user.pk == self.created_by_id or payers.exists()

    @classmethod
    def draft(
        cls, trip: Trip, by: User, *, rate_until: date | None = None, **fields: Any
    ) -> "Expense":
        """The next expense of `trip`, unsaved. `currency` defaults to the trip's.

        For another currency, `exchange_rate` defaults to that of `rate_until`, by default
        `expense_date`.
        Raises `NoRate`, and `ValidationError` on `amount` if it converts to too little or too much.
        """
        fields.setdefault("currency", trip.currency)
        expense = cls(trip=trip, created_by=by, number=trip.expenses_recorded, **fields)
        expense.fix_rate(expense.exchange_rate, rate_until)
        return expense

    @classmethod
    def record(
        cls,
        trip: Trip,
        by: User,
        *,
        paid_by_user: Mapping[int, int | None] | None,
        division: Division,
        payers_field: str = "payers",
        options: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> "Expense":
        """Create an expense and return it with details. `paid_by_user` is in minor units.

        The order of `paid_by_user` is kept; None means the whole amount. Without it, `by` paid
        everything. Amounts are in the expense's currency, like `entered_minor`, and were entered
        while the trip had the currency of `trip`. `options` are for `Plugin.expense_fields`.

        Raises what `draft` raises, `CurrencyChanged`, and `ValidationError` on `payers`,
        `participantUserIds` or `splitAmounts` if somebody is not a member or the sums do not fit.
        """
        with locked_trip(trip.pk, by, Can.RECORD) as locked:
            locked.require_currency(trip.currency)
            expense = cls.draft(locked, by, **fields)
            payments, parts = expense.divide(paid_by_user, division, payers_field)
            locked.count_expense()
            expense._write(payments, parts, by, options or {})
            people = locked.present_people
            if wanting := {pk for pk in {*payments, *parts} if people[pk].may_want_notices}:
                expense.notify("expense.created", Q(pk__in=wanting), by)
            return expense

    def _write(
        self,
        paid_by_user: Mapping[int, Payment],
        parts: Mapping[int, Part],
        by: User,
        options: Mapping[str, Any],
    ) -> None:
        """Insert this new expense with payers, splits and debts, and set its details.

        The details are what was written, with the people as `locked_trip` read them. Nothing is
        read again.
        """
        insert([self])
        payers, splits = self.posting(is_new=True).rewrite(paid_by_user, parts)
        sent = {name: value for name, value in options.items() if value is not None}
        after = expense_fields(self, paid_by_user, parts) | store_plugin_fields(self, sent)[1]
        vars(self).update(dict.fromkeys(plugin_fields()) | sent)
        write(
            self.trip.pk, by, *entries_between(Event.EXPENSE_CREATED, self.pk, {}, after, self.pk)
        )
        # A reference to the expense itself would keep both in memory until the next garbage
        # collection.
        parent = copy(self)
        for payer in payers:
            payer.expense, payer.user = parent, self.trip.present_people[payer.user_id]
        for split in splits:
            split.participant = self.trip.present_people[split.participant_id]
            split.trip_currency = self.trip.currency
        self.loaded_payers, self.loaded_splits = payers, splits

    def change(
        self,
        by: User,
        *,
        paid_by_user: Mapping[int, int | None] | None = None,
        division: Mapping[str, Any] | None = None,
        payers_field: str = "payers",
        options: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> "Expense":
        """Store the given fields, and divide again if money or people change.

        `division` holds the given fields of a `Division`; without any, it stays as it is. Another
        currency gets a new rate. Otherwise the rate stays, even if the date changes, unless a rate
        is given; None means that of the date. Amounts given without a currency or a split type
        refer to this instance as it was read. Returns the expense with details. Raises what
        `record` raises, `ExpenseChanged`, and `DividedByHand`.
        """
        with self.locked(by, Can.CHANGE_EXPENSES) as stored:
            posting = stored.posting()
            change = ExpenseChange(self, stored, posting, fields, paid_by_user, division or {})
            payments, parts = posting.paid_by_user, posting.parts
            before = expense_fields(stored, payments, parts)
            if change.apply():
                payments, parts = stored.divide(
                    change.payers(),
                    change.changed_division(),
                    payers_field,
                    known={*payments, *parts},
                )
                stored.divided = True
                posting.rewrite(payments, parts)
            old, new = store_plugin_fields(stored, {**(options or {})})
            before |= old
            after = expense_fields(stored, payments, parts) | new
            if after != before:
                stored.updated_at = timezone.now()
                stored.notify("expense.changed", posting.people(), by)
            stored.save(update_fields=_CHANGEABLE)
            posting.note(Event.EXPENSE_CHANGED, by, before, after)
            return Expense.objects.with_details().get(pk=stored.pk)

    def remove(self, by: User) -> None:
        """Delete the expense with its splits, and the settlements that `pay` recorded for them.

        They are kept as they were, for `restore_expense`.
        """
        with self.locked(by, Can.CHANGE_EXPENSES) as stored:
            where = {"trip": stored.trip_id, "expense": stored.pk}
            posting = stored.posting()
            fields = expense_fields(stored, posting.paid_by_user, posting.parts)
            splits = posting.splits_with_debts
            posting.rewrite({}, {})
            settlements, allocations, offsets = posting.revoked
            DeletedEntry.keep(
                stored.trip,
                DeletedKind.EXPENSE,
                stored.pk,
                allocations,
                offsets,
                states=[split.open_and_covered() for split in splits],
                expense=[stored],
                payers=posting.payers,
                splits=splits,
                debts=[debt for split in splits for debt in split.debts.all()],
                settlements=settlements,
                **{
                    name: rows.model.objects.filter(**where).order_by("id")
                    for name, rows in added_rows().items()
                },
            )
            posting.note(Event.EXPENSE_DELETED, by, fields, {})
            Mail.objects.filter(expense_id=stored.pk).delete()
            stored.delete()

    def divide(
        self,
        paid_by_user: Mapping[int, int | None] | None,
        division: Division,
        payers_field: str = "payers",
        known: Collection[int] = (),
    ) -> tuple[dict[int, Payment], dict[int, Part]]:
        """What each person paid, and each person's part, in the trip's currency.

        Only members are allowed, except for the people in `known`, who are already in the expense.
        Raises `ValidationError`; `payers_field` is the field of the body that contained the payers.
        """
        paid_by_user = paid_by_user or {self.created_by_id: None}
        self.trip.require_members(
            {
                payers_field: [user_id for user_id in paid_by_user if user_id not in known],
                "participantUserIds": [u for u in division.participants if u not in known],
            }
        )
        self.set_division(division)
        entered = self.entered_by(paid_by_user)
        seed = self.number
        return division.payments_and_parts(self.money, entered, seed, self.places, payers_field)

    def set_division(self, division: Division) -> None:
        """Set the columns of the division. Payers and splits are rows of their own."""
        self.split_type, items = division.split_type, division.items
        self.stored_items = None if items is None else items.text(self.currency)

    def division(self, parts: Mapping[int, Part]) -> Division:
        """The division that made these stored `parts`."""
        entered = entered_for(self.split_type, parts)
        items = Items.of(self.stored_items, self.currency)
        return Division(self.split_type, tuple(parts), entered, items)

    def posting(self, *, is_new: bool = False) -> ExpensePosting:
        """The expense as it is in the ledger."""
        return ExpensePosting(self.trip, self.pk, self.number, self.places, is_new=is_new)

    def entered_by(self, paid_by_user: Mapping[int, int | None]) -> dict[int, int]:
        """`paid_by_user` in minor units of the expense's currency; None is the whole amount."""
        return {
            user_id: self.entered_minor if minor is None else minor
            for user_id, minor in paid_by_user.items()
        }

    def fix_rate(self, given: Decimal | None, until: date | None = None) -> None:
        """Set the rate to the trip's currency: the given one, else that of `expense_date`.

        `until` is another day than that.

        Raises `NoRate`, and what `convert` raises.
        """
        fixed: ExchangeRate | tuple[None, str, None] = (None, "", None)
        if self.currency != self.trip.currency:
            day = until or self.expense_date
            fixed = ExchangeRate.fixed(self.currency, self.trip.currency, day, given)
        self.exchange_rate, self.rate_source, self.rate_day = fixed
        self.convert()

    def convert(self) -> None:
        """Set `amount_minor`. Raises what `in_trip_currency` raises."""
        self.amount_minor = self.entered_minor
        if self.exchange_rate is not None:
            self.amount_minor = in_trip_currency(
                self.entered_minor, self.currency, self.trip.currency, self.exchange_rate
            )

    def locked(self, by: User, can: Capability) -> AbstractContextManager["Expense"]:
        """The expense as it is now, under its trip's lock; see `locked_row`."""
        return locked_row(Expense.objects.all, by, can, trip_id=self.trip_id, pk=self.pk)

    def notify(self, event: str, people: Q, by: User) -> None:
        """Mail those of `people` who want notices of what `by` did."""
        about = {"trip_id": self.trip_id, "expense_id": self.pk}
        happened.send(Expense, event=event, people=people, by=by, **about)

    @property
    def is_division(self) -> bool:
        """Whether the splits follow from `split_type`, and not from one of a newer release."""
        return self.divided and self.split_type in SPLIT_TYPES

    def divided_by_hand(self) -> None:
        """Save that the splits are no longer a division, after one was added or deleted."""
        self.divided = False
        self.updated_at = timezone.now()
        self.save(update_fields=["divided", "updated_at"])


#: The columns that a change may write, without the trip, which Citus never lets anybody write.
_CHANGEABLE = [
    field.name
    for field in Expense._meta.local_concrete_fields
    if not field.primary_key and field.name not in {"trip", "number", "created_by", "created_at"}
]


@dataclass(frozen=True)
class ExpenseChange:
    """The given fields, payers and division of an expense, as `Expense.change` takes them.

    `read` is the expense as the caller read it, before the lock. `stored` and `posting` are its
    current state.
    """

    read: Expense
    stored: Expense
    posting: ExpensePosting
    fields: Mapping[str, Any]
    paid_by_user: Mapping[int, int | None] | None
    division: Mapping[str, Any]

    def apply(self) -> bool:
        """Set the fields of the stored expense; returns whether it must be divided again.

        It must if money or people change. Raises `CurrencyChanged` or `ExpenseChanged` if the given
        amounts no longer mean what they meant when the expense was read, `DividedByHand`, and what
        `Expense.fix_rate` raises.
        """
        stored = self.stored
        self._require_same_meaning()
        money = attrgetter("entered_minor", "currency", "exchange_rate")
        # What divides it in a way of a newer release says nothing without its own type.
        needed = {"split_type"} if stored.divided else self.division.keys()
        before, currency, rate = money(stored), stored.currency, stored.exchange_rate
        for name, value in self.fields.items():
            setattr(stored, name, value)
        # The rate that was read, sent back, stays that of the bank.
        if (currency, rate) != (stored.currency, stored.exchange_rate):
            stored.fix_rate(self.fields.get("exchange_rate"))
        else:
            stored.convert()
        if not stored.is_division and before == money(stored) and not self._changes_people():
            return False
        if not (stored.is_division or self.division.keys() & needed):
            raise DividedByHand
        return True

    def payers(self) -> Mapping[int, int | None]:
        """The given payers, or the stored ones.

        If the amount changes, a single payer has paid all of it; several must be given again.
        """
        if self.paid_by_user:
            return self.paid_by_user
        if len(self.posting.paid_by_user) == 1:
            return dict.fromkeys(self.posting.paid_by_user, self.stored.entered_minor)
        return self.posting.entered

    def changed_division(self) -> Division:
        stored, given = self._stored_division(), self.division
        if given.get("split_type", stored.split_type) != stored.split_type:
            given = {"entered": None, "items": None, **given}
        return replace(stored, **given)

    def _require_same_meaning(self) -> None:
        """Raise unless amounts given for the expense as it was read mean the same for `stored`."""
        stored = self.stored
        split_type = self.division.get("split_type", self.read.split_type)
        parts = self.division.get("entered") if split_type in OF_AMOUNTS else None
        given = [self.fields.get("entered_minor"), parts, self.division.get("items")]
        entered = [*(self.paid_by_user or {}).values(), *given]
        has_amounts = any(value is not None for value in entered)
        is_same_currency = stored.currency == self.read.currency
        if has_amounts and "currency" not in self.fields and not is_same_currency:
            raise CurrencyChanged(meant=self.read.currency, currency=stored.currency)
        is_same_type = stored.split_type == self.read.split_type
        has_values = not self.division.keys().isdisjoint({"entered", "items"})
        if has_values and "split_type" not in self.division and not is_same_type:
            raise ExpenseChanged

    def _changes_people(self) -> bool:
        """Whether the given payers or the given division differ from the stored ones."""
        if self.paid_by_user is not None:
            paid = self.stored.entered_by(self.paid_by_user)
            if list(paid.items()) != list(self.posting.entered.items()):
                return True
        stored = self._stored_division()
        wanted = replace(stored, **self.division)
        if set(wanted.participants) != set(stored.participants):
            return True
        return replace(wanted, participants=stored.participants) != stored

    def _stored_division(self) -> Division:
        return self.stored.division(self.posting.parts)


def expense_fields(
    expense: Expense, paid_by_user: Mapping[int, Payment], parts: Mapping[int, Part]
) -> dict[str, Any]:
    """The journal fields of an expense that is paid and divided like this, with people by id."""
    user_ids = sorted(parts)
    entered_minor = [payment.entered_minor for payment in paid_by_user.values()]
    entered = all_to_major([expense.entered_minor, *entered_minor], expense.currency)
    shares_minor = [parts[user_id].amount_minor for user_id in user_ids]
    shares = all_to_major([expense.amount_minor, *shares_minor], expense.trip.currency)
    return {
        **plain_values(expense),
        **({} if expense.stored_items is None else load_items(expense.stored_items)),
        "amount": entered[0],
        "currency": expense.currency,
        "tripAmount": shares[0],
        **ExchangeRate.fields(expense.exchange_rate, expense.rate_source, expense.rate_day),
        "payers": [
            {"userId": user_id, "amount": amount}
            for user_id, amount in zip(paid_by_user, entered[1:], strict=True)
        ],
        "splits": [
            part_fields(user_id, parts[user_id], share)
            for user_id, share in zip(user_ids, shares[1:], strict=True)
        ],
    }


def part_fields(user_id: int, part: Part, amount: Decimal) -> dict[str, Any]:
    """The journal fields of a person's part of an expense; `amount` is in the trip's currency."""
    percentage_e4 = part.percentage_e4
    return {
        "participantUserId": user_id,
        "amount": amount,
        "percentage": None
        if percentage_e4 is None
        else (Decimal(percentage_e4) / SCALE).normalize(),
    }
