"""What all formats share: the trip that a file describes, its records, amounts and names."""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import chain, count, groupby, islice
from types import MappingProxyType
from typing import Any, ClassVar

from plugins.dates import require_no_week
from plugins.exchange.currencies import known_code
from plugins.exchange.description import Entry, Note, Person, SkippedRow, UnreadableFile
from plugins.exchange.source import MAX_NUMBER_CHARS, MAX_PARTS, Head, SourceFile
from tripcompanion.api.serializers import MAX_MARKS, has_many_marks
from tripcompanion.currency import amounts

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?")
#: Normal forms of longer texts could take seconds, and categories a hundred comparisons a word.
_MAX_NORMAL, _MAX_LABEL = 1000, 200
_GUARDED = tuple("=+-@\t\r\n")
#: Control characters and blanks of other widths, and what turns the direction of a line.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\u1680\u2000-\u200b\u2028-\u202f\u205f\u2066-\u2069\u3000\ufeff]"
)
#: Words of categories, in several languages; the first that fits decides.
_CATEGORIES = {
    "ACCOMMODATION": (
        "hotel hostel lodging accommodation rent mortgage camping alojamiento hébergement "
        "unterkunft logement airbnb 🏠 🏨"
    ),
    "FOOD": (
        "food dining groceries grocery restaurant liquor drink meal bar comida essen "
        "nourriture spesa cibo 🍔 🍽 🍕 🛒"
    ),
    "TRANSPORT": (
        "transport taxi bus train plane flight car gas fuel parking bicycle ferry transporte "
        "verkehr voiture 🚗 ✈ 🚕 🚌"
    ),
    "ACTIVITIES": (
        "entertainment sport movie music game culture excursion activit museum ticket ocio "
        "freizeit loisirs 🎬 🎟 🏃"
    ),
}


class RowError(Exception):
    """A row cannot be an entry; see `SkippedRow`."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code, values)
        self.note = Note(code, values)

    def of_file(self, line: int | None = None) -> UnreadableFile:
        """The same as the reason why the file, or a line of it, cannot be read at all."""
        return UnreadableFile(self.note.code, line, **self.note.values)


class TripDescription:
    """A trip as a file describes it. Every format is such a class, in a module of its own.

    Making one reads what the file says as a whole, and iterating over `entries` its rows, again
    each time, so that a large file is never in memory as a whole. Both raise `UnreadableFile` with
    the line.

    `currency` is that of the trip. `claimed` is what the file says that people are owed, or with a
    minus owe, in minor units by person and currency. `is_own` is for our own export, of which a new
    trip is made as it was; `origin` says of which trip it is: its id, and when it was created.
    """

    #: The name of the program that writes such files.
    PROGRAM: ClassVar[str]
    #: The names of columns that only files of this format have together, if it is CSV.
    NAMES: ClassVar[frozenset[str]]
    #: The path of the rows in JSON.
    ROWS: ClassVar[str] = ""
    #: What a row calls its description.
    TITLE: ClassVar[str] = ""
    #: Whether a file may have several groups, of which the caller chooses one.
    HAS_GROUPS: ClassVar[bool] = False

    format: str = ""
    currency: str
    people: tuple[Person, ...]
    claimed: Mapping[tuple[str, str], int] = MappingProxyType({})
    notes: tuple[Note, ...] = ()
    #: Notes on what only a copy of the trip has.
    notes_on_rest: tuple[Note, ...] = ()
    name: str = ""
    description: str = ""
    destination: str = ""
    start_date: date | None = None
    end_date: date | None = None
    is_own: bool = False
    origin: tuple[str, str] = ("", "")

    def __init__(self, file: SourceFile) -> None:
        self.file = file

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """Whether a file has this format, by its beginning."""
        return cls.NAMES.issubset(head.header)

    def rows(self) -> Iterator[tuple[int, Any]]:
        """The rows of the file with their lines; of a list in JSON, with their places."""
        if self.ROWS:
            return enumerate(self.file.items(self.ROWS), start=1)
        return self.file.named_records()

    def entries_of(self, line: int, row: Any) -> Iterable[Entry]:
        """The entries that a row becomes. Raises `RowError` if it cannot be read."""
        raise NotImplementedError

    @property
    def entries(self) -> Iterator[Entry]:
        """What becomes of each row; one that cannot be read is skipped."""
        return each(self.rows(), self.entries_of, self.TITLE)


class Record:
    """A row of CSV, or an object of JSON, by names. Raises `RowError` for what it lacks."""

    def __init__(self, values: Any) -> None:
        if not isinstance(values, Mapping):
            raise RowError("not_an_object")
        self.values = values

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) not in (None, "")

    def text(self, name: str, default: str | None = None) -> str:
        """The text, trimmed; a number as its digits."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise RowError("missing_field", name=name)
        return clean(str(value))

    def kind(self, name: str, known: Container[str], default: str | None = None) -> str:
        """The text, which must be one of the known types of rows."""
        kind = self.text(name, default)
        if kind not in known:
            raise RowError("unknown_kind", text=kind[:30])
        return kind

    def number(self, name: str) -> Decimal:
        """The number, exactly; also of a text."""
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise RowError("missing_field", name=name)
        return number(str(value))

    def flag(self, name: str) -> bool:
        return self.values.get(name) is True

    def record(self, name: str) -> "Record":
        return Record(self.values.get(name))

    def records(self, name: str) -> "list[Record]":
        """The objects of a list; an absent one is empty."""
        return [Record(value) for value in self.list(name)]

    def list(self, name: str) -> Sequence[Any]:
        value = self.values.get(name) or []
        if not isinstance(value, list):
            raise RowError("missing_field", name=name)
        return value

    def day(self, name: str) -> date:
        return day(self.text(name))

    def currency(self, name: str) -> str:
        return known_currency(self.text(name))

    def minor(self, name: str, currency: str) -> int:
        """The number as an amount, in minor units."""
        return to_minor(self.number(name), currency)

    def exact(self, name: str, currency: str) -> Decimal:
        """The number in minor units, with the decimals that are left."""
        return exact(self.number(name), currency)


def clean(text: str) -> str:
    """Trimmed, in the normal form in which equal names are equal."""
    normal = unicodedata.normalize("NFC", text) if len(text) <= _MAX_NORMAL else text
    return normal.strip().strip("\ufeff")


def plain(text: str) -> str:
    """The text without control characters; those that join letters and signs stay, as by hand.

    A letter keeps at most `MAX_MARKS` accents: as many as anybody may enter.
    """
    if has_many_marks(text):
        runs = groupby(text, lambda letter: unicodedata.combining(letter) > 0)
        kept = (islice(run, MAX_MARKS if is_marks else None) for is_marks, run in runs)
        text = "".join(chain.from_iterable(kept))
    return _UNSEEN.sub(" ", text).strip()


def unguarded(text: str) -> str:
    """Without the apostrophe before a character that would begin a formula."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_GUARDED) else text


def unquoted(cell: str) -> str:
    """The cell without the quotes around it; a program that saved the file again doubles others."""
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if is_quoted else cell


def smallest(currency: str, decimals: int) -> int:
    """In minor units, the smallest amount that a file with so many decimals can have."""
    return max(1, amounts.to_minor(Decimal(1).scaleb(-decimals), currency))


def number(text: str) -> Decimal:
    """An exact number with a decimal point, also in exponent form."""
    plain = text.strip().replace("\u2212", "-")
    if len(plain) > MAX_NUMBER_CHARS or not _NUMBER.fullmatch(plain):
        raise RowError("bad_number", text=text[:MAX_NUMBER_CHARS])
    return Decimal(plain)


def to_minor(value: Decimal, currency: str) -> int:
    """Minor units, rounded half up. Raises `RowError` for an amount that is out of range."""
    try:
        minor = amounts.to_minor(value, currency)
    except InvalidOperation as error:
        raise RowError("amount_too_large") from error
    if abs(minor) >= 10**15:
        raise RowError("amount_too_large")
    return minor


def rounded(value: Decimal, currency: str) -> tuple[int, tuple[Note, ...]]:
    """`to_minor`, with a note if that changed the amount."""
    minor = to_minor(value, currency)
    changed = amounts.to_major(minor, currency) != value
    return minor, (Note("rounded", {"amount": f"{value.normalize():f}"}),) if changed else ()


def exact(value: Decimal, currency: str) -> Decimal:
    """Minor units with the decimals that are left. Raises `RowError` as `to_minor` does."""
    minor = value * _minor_units(currency)
    if abs(minor) >= 10**15:
        raise RowError("amount_too_large")
    return minor


@cache
def _minor_units(currency: str) -> int:
    """How many minor units one of the currency has."""
    return amounts.to_minor(Decimal(1), currency)


def known_currency(text: str) -> str:
    """The code of a currency, in use or not. Raises `RowError` if there is no such currency."""
    code = known_code(text)
    if code is None:
        raise RowError("unknown_currency", currency=text[:20])
    return code


def any_record(value: Any) -> Record:
    """A record of `value`; an empty one if it is no object."""
    return Record(value if isinstance(value, dict) else {})


def any_records(value: Any) -> list[Record]:
    """The records of a list; none if it is no list."""
    return [any_record(item) for item in value] if isinstance(value, list) else []


def day(text: str) -> date:
    """The date as the source shows it: the first ten characters."""
    try:
        return date.fromisoformat(require_no_week(text.strip()[:10]))
    except ValueError as error:
        raise RowError("bad_date", text=text[:30]) from error


def category(*names: str) -> str:
    """Our category for that of the source."""
    text = " ".join(names)[:_MAX_LABEL].casefold()
    words = re.split(r"[\s,/&-]+", text)
    for ours, theirs in _CATEGORIES.items():
        if any(word.startswith(known) for word in words for known in theirs.split() if word):
            return ours
    return "OTHER"


def chosen_group(names: Mapping[str, str], wanted: str) -> str:
    """The key of the group that the caller wants, by key or name, or of the only one.

    `names` are by key. Raises `UnreadableFile` if several are to choose.
    """
    found = [key for key, name in names.items() if not wanted or wanted in {key, name}]
    if len(found) != 1:
        shown = ", ".join(f"{name} ({key})".strip() for key, name in names.items())
        raise UnreadableFile("several_groups", groups=shown[:500])
    return found[0]


def people_with_ids(file: SourceFile, path: str) -> tuple[Person, ...]:
    """The people in a list of objects with `id` and `name`."""
    rows = map(any_record, file.items(path))
    return tuple(Person(row.text("id"), row.text("name", "?")) for row in rows if "id" in row)


def people_named(names: Iterable[str]) -> tuple[Person, ...]:
    """People who have only names, which are their keys. Of equal names, each is another person."""
    names = list(names)
    taken = set(names)
    further: dict[str, Iterator[int]] = {}
    people = []
    for name in names:
        key = name
        if name in further:
            key = next(k for number in further[name] if (k := f"{name} ({number})") not in taken)
            taken.add(key)
        else:
            further[name] = count(2)
        people.append(Person(key, key))
    return tuple(people)


def name_notes(names: Sequence[str]) -> tuple[Note, ...]:
    """A note if two people have one name."""
    return (Note("same_names"),) if len(set(map(clean, names))) < len(names) else ()


def guard_notes(names: Iterable[str]) -> tuple[Note, ...]:
    """A note with the names that are `unguarded`: they may have begun with an apostrophe."""
    found = [plain for name in names if (plain := unguarded(name)) != name]
    return (Note("guarded_names", {"names": ", ".join(found)[:200]}),) if found else ()


def each(
    rows: Iterable[tuple[int, Any]], read: Callable[[int, Any], Iterable[Entry]], title: str
) -> Iterator[Entry]:
    """The entries that `read` makes of each row; a row that it cannot read is skipped.

    `title` is the name of the description in a row.
    """
    parts = 0
    for line, row in rows:
        try:
            found = list(read(line, row))
            parts += sum(len(e.people) for e in found if not isinstance(e, SkippedRow))
            if parts > MAX_PARTS:
                raise UnreadableFile("too_many_parts", line, limit=MAX_PARTS)
            yield from found
        except RowError as error:
            value = row.get(title) if isinstance(row, Mapping) else ""
            yield SkippedRow(line, error.note, clean(str(value or ""))[:255])
