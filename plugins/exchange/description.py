"""The entries and people that every format is read into, and that an import is planned from.

Plain values without a database. Amounts are whole minor units. People and expenses are named by
keys, texts which mean something within one file only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import chain
from typing import Any, ClassVar, NamedTuple

#: The type, in a class whose `date` is a field.
Day = date
#: The days that an entry may have.
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2100, 12, 31)


class UnreadableFile(Exception):
    """The file, or a line of it, cannot be read; `code` is one of `exchange.notes`.

    `line` counts from 1; in JSON it is the position of the entry in its list. None is the file.
    """

    def __init__(self, code: str, line: int | None = None, **values: object) -> None:
        super().__init__(code, line, values)
        self.code, self.line, self.values = code, line, values


class Note(NamedTuple):
    """Something that the reader of a plan should know; `exchange.notes` has the text of `code`."""

    code: str
    values: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Person:
    """A person in the file.

    `is_caller` says that the file itself calls this person the one who saved it.
    """

    key: str
    name: str
    email: str | None = None
    is_caller: bool = False


@dataclass(frozen=True, slots=True)
class DescribedComment:
    """A comment on an expense; `person` is the key of its author."""

    text: str
    person: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """What all entries have. `key` is the id in the source, or None if it has none.

    `fields` are the other columns that the caller enters, by name; see `columns.carried`. An amount
    is in minor units of `currency`. `rate` is how many units of the trip's currency one unit of
    `currency` is worth; only our own file has its source and day. `converted_minor` is the amount
    in the trip's currency, if the file has it; it takes precedence. `instant` is the time in the
    words of a source whose `date` depends on the caller's time zone. `made_at` is when it was
    entered, in our own file.
    """

    line: int
    date: date
    amount_minor: int
    currency: str
    fields: Mapping[str, Any]
    key: str | None = None
    instant: str = ""
    made_at: str = ""
    rate: Decimal | None = None
    rate_source: str = ""
    rate_day: Day | None = None
    converted_minor: int | None = None
    notes: tuple[Note, ...] = ()

    #: One of `models.EntryKind`, and the columns of what it was and of what else is to be said.
    kind: ClassVar = "settlement"
    title_column: ClassVar = "note"
    remark_column: ClassVar = "note"

    @property
    def title(self) -> str:
        return self.fields[self.title_column]


@dataclass(frozen=True, slots=True)
class DescribedExpense(Row):
    """An expense. All amounts are in minor units of its `currency`, and add up to `amount_minor`.

    A refund is negative, with everything that adds up to it.

    `entered` has the participants with what was entered: minor units for MANUAL and ADJUSTMENT,
    ten-thousandths for PERCENTAGE and SHARES, None for EQUAL and ITEMIZED. `items` are those of
    ITEMIZED, as our own file has them; nothing of them is checked.
    `parts` are the exact parts, if the file has them; None divides by our own rule. They are in the
    trip's currency if `converted_minor` is given. Then our own file also says what the payers
    `paid` in that.
    """

    payers: tuple[tuple[str, int], ...] = ()
    paid: tuple[int, ...] | None = None
    split_type: str = "EQUAL"
    entered: tuple[tuple[str, int | None], ...] = ()
    parts: tuple[tuple[str, int], ...] | None = None
    items: object = None
    comments: tuple[DescribedComment, ...] = ()

    kind: ClassVar = "expense"
    title_column: ClassVar = "description"
    remark_column: ClassVar = "notes"

    @property
    def sides(self) -> tuple[list[str], ...]:
        """The keys of the payers and of the participants."""
        return [key for key, _value in self.payers], [key for key, _value in self.entered]

    @property
    def people(self) -> set[str]:
        return {*chain(*self.sides)}


@dataclass(frozen=True, slots=True)
class DescribedSettlement(Row):
    """Money that one person handed to another."""

    sender: str = ""
    receiver: str = ""

    @property
    def sides(self) -> tuple[list[str], ...]:
        """The keys of the two people, who must be different."""
        return ([self.sender, self.receiver],)

    @property
    def people(self) -> set[str]:
        return {self.sender, self.receiver}


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row that cannot be an entry; `reason` says why."""

    line: int
    reason: Note
    title: str = ""
    notes: tuple[Note, ...] = ()


Entry = DescribedExpense | DescribedSettlement | SkippedRow
