"""A trip as a table for people: one row for each expense and settlement.

Each person has two columns. What they put in is what they paid for an expense, or handed over in a
settlement; their part is what they bear of an expense, or received in a settlement. So both sides
of a row add up to its amount, and the sums of a person's two columns differ by their balance.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import partial
from heapq import merge
from itertools import islice
from typing import IO, Any, NamedTuple

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from plugins.csv_export import csv_of
from plugins.written_files import written_file
from splits import money
from splits.models import Expense, Payer, Settlement, Split
from tripcompanion.api.problems import LimitReached
from tripcompanion.currency.amounts import to_major
from trips.models import Member, Trip
from trips.models.journal import plain_fields, plain_values

#: How many expenses are in memory at a time, each with up to 200 splits.
CHUNK_ROWS = 100
MAX_SHEET_ROWS = 1_048_576
#: A spreadsheet has 16,384 columns.
MAX_PEOPLE = 8_000
#: The plain fields of an expense, without the date, which settlements have, too.
_PLAIN = [name for name in plain_fields(Expense) if name != "expenseDate"]
_HEADING = ["type", "id", "date", *_PLAIN, "amount", "currency", "tripAmount", "tripCurrency"]

Line = list[Any]
#: Amounts in minor units of the trip's currency, by user id.
Amounts = Mapping[int, int]


class _Entry(NamedTuple):
    """An expense or a settlement: its cells, and what everybody put in and bears of it."""

    row: Expense | Settlement
    day: date
    cells: Mapping[str, Any]
    put_in: Amounts
    parts: Amounts


def csv_file(trip: Trip) -> IO[bytes]:
    """A temporary file with the table as CSV, ready to be read. Call it in a snapshot.

    Raises `LimitReached` if there are too many people.
    """
    return csv_of(_lines(trip))


def xlsx_file(trip: Trip) -> IO[bytes]:
    """Like `csv_file`, as an Excel workbook, of which one row is in memory.

    Texts are written as texts, so none is a formula. What a sheet cannot hold is on the next one.
    """
    return written_file(partial(_write_workbook, _lines(trip)))


def _write_workbook(lines: Iterator[Line], file: IO[bytes]) -> None:
    # It takes 2 MB in every process.
    import xlsxwriter  # noqa: PLC0415 -- see above

    heading, options = next(lines), {"constant_memory": True, "default_date_format": "yyyy-mm-dd"}
    with xlsxwriter.Workbook(file, options) as book:
        sheet, place = book.add_worksheet(), 0
        _write(sheet, place, heading)
        for line in lines:
            place += 1
            if place == MAX_SHEET_ROWS:
                sheet, place = book.add_worksheet(), 1
                _write(sheet, 0, heading)
            _write(sheet, place, line)


def _write(sheet: Any, place: int, line: Line) -> None:
    for column, value in enumerate(line):
        if isinstance(value, date):
            sheet.write_datetime(place, column, value)
        elif isinstance(value, Decimal | int):
            sheet.write_number(place, column, value)
        elif value:
            sheet.write_string(place, column, str(value))


def _lines(trip: Trip) -> Iterator[Line]:
    """The heading, then a line for each entry by date. Empty cells are None."""
    names = _names(trip)
    columns = [f"{name}: {side}" for name in names.values() for side in (_("put in"), _("part"))]
    yield [*_HEADING, *columns]
    for entry in merge(_expenses(trip), _settlements(trip), key=lambda entry: entry.day):
        cells = {
            "id": entry.row.pk,
            "date": entry.day,
            **entry.cells,
            "tripAmount": to_major(entry.row.amount_minor, trip.currency),
            "tripCurrency": trip.currency,
        }
        amounts = [side.get(pk) for pk in names for side in (entry.put_in, entry.parts)]
        yield [
            *map(cells.get, _HEADING),
            *(None if minor is None else to_major(minor, trip.currency) for minor in amounts),
        ]


def _names(trip: Trip) -> dict[int, str]:
    """The present and former members by user id. Those who share a name have their ids, too."""
    members = Member.objects.filter(trip=trip).select_related("user").order_by("joined_at", "id")
    people = {member.user_id: member.user.shown_name for member in members[: MAX_PEOPLE + 1]}
    LimitReached.require_at_most(MAX_PEOPLE, len(people))
    uses = Counter(people.values())
    return {pk: name if uses[name] == 1 else f"{name} ({pk})" for pk, name in people.items()}


def _expenses(trip: Trip) -> Iterator[_Entry]:
    rows = trip.expenses.order_by("expense_date", "id").defer("stored_items").iterator(CHUNK_ROWS)
    while chunk := list(islice(rows, CHUNK_ROWS)):
        here = {"trip": trip, "expense__in": chunk}
        paid_for = _by_expense(Payer.objects.filter(**here), "user")
        shares_of = _by_expense(Split.objects.filter(**here), "participant")
        for expense in chunk:
            expense.trip = trip
            paid, shares = paid_for[expense.pk], shares_of[expense.pk]
            cells = {
                "type": "expense",
                **plain_values(expense),
                "tags": ", ".join(expense.tags),
                "amount": to_major(expense.entered_minor, expense.currency),
                "currency": expense.currency,
            }
            parts = money.own_parts(shares, paid, expense.number, expense.places)
            yield _Entry(expense, expense.expense_date, cells, paid, parts)


def _by_expense(rows: QuerySet[Any], person: str) -> Mapping[int, Amounts]:
    """The amounts of payers or splits by expense; models of them take five times as long."""
    found: defaultdict[int, dict[int, int]] = defaultdict(dict)
    columns = ("expense", person, "amount_minor")
    for expense_id, user_id, minor in rows.order_by("pk").values_list(*columns):
        found[expense_id][user_id] = minor
    return found


def _settlements(trip: Trip) -> Iterator[_Entry]:
    for row in trip.settlements.order_by("settled_on", "id").iterator(CHUNK_ROWS):
        row.trip = trip
        cells = {
            "type": "settlement",
            "notes": row.note,
            "amount": to_major(row.entered_minor, row.currency),
            "currency": row.currency,
        }
        put_in, part = {row.sender_id: row.amount_minor}, {row.receiver_id: row.amount_minor}
        yield _Entry(row, row.settled_on, cells, put_in, part)
