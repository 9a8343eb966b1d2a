"""The rows of a trip, table by table, as a file in our own format has them.

A column that one of these models gets is in the file without a change here, under its name in camel
case. Amounts are in major units; percentages and weights are numbers.
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import orjson
from django.db.models import DecimalField, F, Field, Q, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf

from plugins.restorable import Restorable
from plugins.written_files import rows_at_once
from splits.models import Allocation, Debt, Expense, Payer, Settlement, Split
from splits.serializers.expense import ExpenseRequest
from splits.serializers.settlement import SettlementRequest
from tripcompanion.api.serializers import camel_case
from tripcompanion.currency.amounts import EXPONENTS
from tripcompanion.plugin import TripTable, plugins
from trips.models import JournalEntry, Member, Trip
from trips.serializers import TripRequest

CHUNK_ROWS = 2000
#: The last letters of columns that store whole numbers of a small unit; see `Column.exponent`.
_MINOR, _E4 = "_minor", "_e4"
_AS_TEXT = "stored_"
#: The trip is another one, and `client_id` names what a client created in this very trip. What is
#: deleted is not in a file.
_LEFT_OUT = ("trip_id", "client_id", "deleted_at")
#: As `entered_in`: the currency of the expense that a row belongs to.
OF_EXPENSE = "expense__currency"
#: The amounts that are in the currency in which they were entered.
AS_ENTERED = frozenset({"entered_minor", "foreign_minor"})


class Column(NamedTuple):
    """A column of a table; `name` is what the file calls it."""

    name: str
    field: "Field[Any, Any]"

    @classmethod
    def of(cls, field: Any) -> "Column":
        stem = field.attname.removesuffix(_MINOR).removesuffix(_E4).removeprefix(_AS_TEXT)
        return cls(camel_case(stem), field)

    @property
    def is_json(self) -> bool:
        """Whether the database stores it as the text of a JSON value."""
        return self.field.attname.startswith(_AS_TEXT)

    @property
    def is_converted(self) -> bool:
        """Whether the file may have another value than the database."""
        has_unit = self.field.attname.endswith((_MINOR, _E4))
        return has_unit or self.is_json or isinstance(self.field, DecimalField)

    def exponent(self, currency: str) -> int | None:
        """The decimals of the number in the file, if the database has a whole number instead."""
        if self.field.attname.endswith(_MINOR):
            return EXPONENTS[currency]
        return 4 if self.field.attname.endswith(_E4) else None

    def written(self, value: Any, currency: str) -> Any:
        """A stored value as the file has it."""
        if value is None:
            return None
        exponent = self.exponent(currency)
        if exponent is not None:
            return Decimal(value).scaleb(-exponent)
        if isinstance(value, Decimal):
            return value.normalize()
        return _without_codes(value) if self.is_json else value


def _without_codes(changes: str) -> Any:
    """Changes in the history without trip codes, by which whoever gets the file could join."""
    if '"tripCode"' not in changes:
        return orjson.Fragment(changes)
    known = json.loads(changes, parse_float=Decimal)
    return {name: pair for name, pair in known.items() if name != "tripCode"}


class Table(TripTable):
    """A table of a trip, and its rows as the file has them."""

    @cached_property
    def columns(self) -> list[Column]:
        left_out = {*self.left_out, *_LEFT_OUT}
        fields = self.model._meta.concrete_fields
        return [Column.of(field) for field in fields if field.attname not in left_out]

    def of(self, trip: Trip) -> QuerySet[Any]:
        return self.model._base_manager.filter(trip=trip.pk)

    def rows(self, trip: Trip) -> Iterator[dict[str, Any]]:
        """The rows of `trip`, read in chunks. Call it in a snapshot."""
        columns = self.columns
        found = self.of(trip).order_by(self.order)
        if issubclass(self.model, Restorable):
            found = found.filter(deleted_at=None)
        if self.only:
            found = found.filter(self.only())
        foreign: dict[int, str] = {}
        if self.entered_in == OF_EXPENSE:
            # A join would compare them with all expenses of a trip that PostgreSQL does not know.
            of_trip = Expense.objects.filter(trip=trip.pk)
            others = of_trip.exclude(currency__in=("", trip.currency))
            foreign = dict(others.values_list("pk", "currency"))
        names = [column.field.attname for column in columns]
        names_in_file = [column.name for column in columns]
        converted = [column for column in columns if column.is_converted]
        entered_in: Any = Value(trip.currency)
        if self.entered_in not in {"", OF_EXPENSE}:
            entered_in = Coalesce(NullIf(F(self.entered_in), Value("")), entered_in)
        found = found.annotate(entered_in=entered_in)
        found = found.values_list(*names, "entered_in")
        for *values, currency in found.iterator(rows_at_once(self.model, CHUNK_ROWS)):
            row = dict(zip(names, values, strict=True))
            if foreign:
                currency = foreign.get(row["expense_id"], currency)
            if self.written:
                self.written(row)
            # Few columns are, and a long trip has millions of values.
            for column in converted:
                name = column.field.attname
                in_currency = currency if name in AS_ENTERED else trip.currency
                row[name] = column.written(row[name], in_currency)
            yield dict(zip(names_in_file, row.values(), strict=True))


class Allocations(Table):
    """Found by what they cover and by what they use up: they have no index on the trip."""

    def of(self, trip: Trip) -> QuerySet[Any]:
        rows, debts, settlements = (
            model._base_manager.filter(trip=trip.pk) for model in (self.model, Debt, Settlement)
        )
        covering = rows.filter(debt__in=debts.values("pk"))
        using = rows.filter(debt=None, settlement__in=settlements.values("pk"))
        return rows.filter(pk__in=covering.values("pk").union(using.values("pk")))


_NOT_OF_OFFSETS = (
    *("split_id", "note", "foreign_minor", "foreign_currency"),
    *("exchange_rate", "rate_source", "rate_day"),
)
#: The tables of plugins.
_ADDED = [Table(*row) for app in plugins() for row in app.trip_tables()]
#: Each table comes after those that its rows refer to.
TABLES = (
    Table("members", Member, ("id", "introduced_by")),
    Table("expenses", Expense, entered_in="currency", request=ExpenseRequest),
    Table("payers", Payer, ("id",), entered_in=OF_EXPENSE),
    Table("splits", Split, entered_in=OF_EXPENSE),
    Table("debts", Debt),
    Table(
        "settlements",
        Settlement,
        ("closing_id",),
        entered_in="foreign_currency",
        request=SettlementRequest,
        only=lambda: Q(closing=None),
    ),
    Table(
        "offsets",
        Settlement,
        _NOT_OF_OFFSETS,
        only=lambda: Q(closing__isnull=False),
        request=SettlementRequest,
    ),
    Allocations("allocations", Allocation, ("id",)),
    *(table for table in _ADDED if table.is_restored),
    Table("history", JournalEntry, ("id",), order="number"),
)
#: Tables that are written only; nothing is made of them.
WRITTEN = tuple(table for table in _ADDED if not table.is_restored)
#: The trip itself. Its code would let everybody join who gets the file.
TRIP = Table("trip", Trip, ("code", "expenses_that_day", "counted_on"), request=TripRequest)


def trip_row(trip: Trip) -> dict[str, Any]:
    """The trip itself, as the file has it."""
    return {
        column.name: column.written(getattr(trip, column.field.attname), trip.currency)
        for column in TRIP.columns
    }
