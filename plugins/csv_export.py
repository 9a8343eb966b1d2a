"""CSV files of the admin site's lists, safe to open in a spreadsheet."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from typing import IO, Any, NamedTuple

from django.db.models import QuerySet, Subquery

from plugins.written_files import written_file

#: How many rows are in memory at a time.
CHUNK_ROWS = 2000
#: A spreadsheet may split a line at these characters, so a cell may begin after each of them. The
#: separator of the file itself is harmless: every text is in quotes.
_STARTS_CELL = frozenset(";\t\r\n")
#: The characters that start a formula, after any white space and separators.
_FORMULA = re.compile(r"(?<![\s;])([\s;]*+)([=+\-@＝＋－＠])")  # noqa: RUF001 -- they start formulas too


class Column(NamedTuple):
    """A column of several lookups: `cell` gets their values and returns one."""

    lookups: tuple[str | Subquery, ...]
    cell: Callable[..., Any]


#: The columns by their heading: a lookup as in `values_list`, or a `Column`.
CsvColumns = Mapping[str, str | Column]


def named(*lookups: str) -> CsvColumns:
    """Columns that are called like their lookups."""
    return {lookup: lookup for lookup in lookups}


def csv_file(rows: QuerySet, columns: CsvColumns) -> IO[bytes]:
    """A temporary file with a heading and a line for each of `rows`, ready to be read."""
    return csv_of(_lines(rows, columns))


def csv_of(lines: Iterable[Iterable[Any]]) -> IO[bytes]:
    """A temporary file with these lines as CSV, ready to be read.

    The file is UTF-8 with a byte order mark, without which Excel assumes another encoding.
    """

    def write(file: IO[bytes]) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="", write_through=True)
        csv.writer(text, quoting=csv.QUOTE_ALL).writerows(map(_text, line) for line in lines)
        text.detach()

    return written_file(write)


def _lines(rows: QuerySet, columns: CsvColumns) -> Iterator[Iterable[Any]]:
    yield columns
    whole = [
        column if isinstance(column, Column) else Column((column,), lambda value: value)
        for column in columns.values()
    ]
    lookups = [lookup for column in whole for lookup in column.lookups]
    for values in map(iter, rows.values_list(*lookups).iterator(chunk_size=CHUNK_ROWS)):
        yield [column.cell(*islice(values, len(column.lookups))) for column in whole]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, list):
        value = ", ".join(value)
    return defused(value) if isinstance(value, str) else str(value)


def defused(text: str) -> str:
    """`text` with an apostrophe before what a spreadsheet could run as a formula.

    See https://owasp.org/www-community/attacks/CSV_Injection. Numbers are never changed, so a
    negative amount stays a number.
    """
    return _FORMULA.sub(_defused, text)


def _defused(found: re.Match[str]) -> str:
    starts_cell = found.start() == 0 or not _STARTS_CELL.isdisjoint(found[1])
    return f"{found[1]}'{found[2]}" if starts_cell else found[0]
