"""An uploaded file as text: its encoding, its kind, and what a format is recognised by.

Everything is read in pieces, so that a large file is never in memory as a whole.
"""

import codecs
import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, tzinfo
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import ijson

from plugins.exchange.currencies import LIKELY_SIGNS, in_use, known_code
from plugins.exchange.description import Note, UnreadableFile

#: The longest text in a cell of CSV or in JSON, in characters.
MAX_CELL_CHARS = 100_000
MAX_DEPTH = 32
#: The longest number, in characters: it may have to be multiplied.
MAX_NUMBER_CHARS = 40
MAX_COLUMNS = 500
#: Of CSV all cells, with those that short rows lack, and the parts of lists within a cell; of JSON
#: the parts that people have of entries.
MAX_PARTS = 500_000
#: Also blank ones, which cost time, too.
MAX_LINES = 500_000
_PIECE = 64 * 1024
#: An export may begin with a note.
_HEADER_LINES = 20
#: How many of the first rows below the header a format may look at.
_FIRST_ROWS = 5
#: Receipts, which are inside of the files of Abrechnung.
_UNREAD = "files.item.content"
#: How many names of JSON a format is recognised by.
_MAX_PATHS, _MAX_NAMES = 2000, 7
_STARTS, _ENDS = ("start_map", "start_array"), ("end_map", "end_array")
#: `ijson` ends the process at whole numbers that Python refuses to read.
LONG_NUMBER = re.compile(r"(?<![0-9])[0-9]{1000}")
#: An escape in JSON; the group is half of a character, of which the other half is missing.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
_LONGEST_ESCAPE = 12
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Head(NamedTuple):
    """What a format is recognised by.

    In JSON, `paths` are the names of the values, such as `expenses.item.amount`, and `texts` the
    texts and numbers that are not in a list. In CSV, `header` are the names of the columns, and
    `rows` the first ones below them.
    """

    paths: frozenset[str] = frozenset()
    texts: Mapping[str, Any] = {}
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class SourceFile:
    """A file that can be read any number of times. Raises `UnreadableFile` if nobody can read it.

    `name` is the name that the file had, or empty. What a file may not say, the caller does:
    `currency`, the `zone` of instants, and which `group` of several. Of a JSON file that was read
    before, such as that of a plan, `is_checked` saves the time of checking all names and values.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str = "",
        currency: str = "",
        zone: tzinfo = UTC,
        group: str = "",
        *,
        is_checked: bool = False,
    ) -> None:
        self._file, self.name = file, name
        self.currency, self.zone, self.group = currency, zone, group
        self.notes: list[Note] = []
        self.encoding = self._encoding()
        start = self._start()
        if not start:
            raise UnreadableFile("empty_file")
        self.is_json = start[0] in "{["
        self.header_line, self.delimiter = 1, ","
        self.head = self._json_head() if self.is_json and not is_checked else Head()

    def heads(self) -> Iterator[Head]:
        """What the file may be recognised by; `head` is the last of these.

        In CSV, each of the first rows may be the header, with each delimiter.
        """
        if self.is_json:
            yield self.head
            return
        for delimiter in ",;\t":
            self.delimiter = delimiter
            first = list(self.rows(_HEADER_LINES))
            for at, (line, row) in enumerate(first):
                below = tuple(tuple(cells) for _line, cells in first[at + 1 : at + 1 + _FIRST_ROWS])
                header = tuple(cell.strip() for cell in row)
                self.header_line, self.head = line, Head(header=header, rows=below)
                yield self.head

    def trip_currency(self, *found: str) -> str:
        """The first known currency of those in the file, or that of the caller, or else a guess.

        It may be one that has ended.
        """
        named = [code for text in found if (code := known_code(text))]
        # One that nothing took the place of is the last that a trip would have.
        named.sort(key=lambda code: in_use(code) is None)
        guessed = (LIKELY_SIGNS.get(text.strip()) for text in found)
        if code := next(filter(None, (*named, self.currency, *guessed)), None):
            return code
        raise UnreadableFile("currency_needed")

    def text(self) -> io.TextIOBase:
        """The text from its start."""
        raw: Any = io.BufferedReader(_Reading(self._file))
        return io.TextIOWrapper(raw, encoding=self.encoding, newline="")

    def items(self, path: str, inside: tuple[str, int] | None = None) -> Iterator[Any]:
        """The values of JSON at `path`, such as `expenses.item`, one after the other.

        `inside` has the path of an object above, and which of those with that path it is, from 1.
        That all of it is JSON, the head has shown.
        """
        source: Any = _AsUTF8(self.text())
        if inside is not None:
            source = _inside(ijson.parse(source), *inside)
        yield from ijson.items(source, path)

    def objects(self, path: str, names: Collection[str]) -> list[dict[str, Any]]:
        """The texts and numbers with these names of each object of JSON at `path`."""
        found: list[dict[str, Any]] = []
        for place, event, value in ijson.parse(_AsUTF8(self.text())):
            if (place, event) == (path, "start_map"):
                found.append({})
            above, _point, name = place.rpartition(".")
            if above == path and name in names and event in {"string", "number"}:
                found[-1][name] = value
        return found

    def filled(self, names: Collection[str]) -> set[str]:
        """Which of these lists of JSON have an object; one pass through the file."""
        places = {f"{name}.item": name for name in names}
        events = ijson.parse(_AsUTF8(self.text()))
        return {places[at] for at, what, _value in events if at in places and what == "start_map"}

    def first(self, path: str) -> Any:
        """The first value of JSON at `path`, or None."""
        return next(self.items(path), None)

    def rows(
        self, lines: int | None = None, quoting: Any = csv.QUOTE_MINIMAL
    ) -> Iterator[tuple[int, list[str]]]:
        """The rows of CSV that are not blank, with the number of the line on which each ends.

        `lines` reads only so many from the start; `quoting` is that of `csv`.
        """
        text = islice(_bounded(self.text()), lines)
        reader, cells = csv.reader(text, delimiter=self.delimiter, quoting=quoting), 0
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise UnreadableFile("malformed_csv", reader.line_num) from error
            if len(row) > MAX_COLUMNS:
                raise UnreadableFile("too_many_columns", reader.line_num, limit=MAX_COLUMNS)
            if max(map(len, row), default=0) > MAX_CELL_CHARS:
                raise UnreadableFile("too_long", reader.line_num, limit=MAX_CELL_CHARS)
            if content := "".join(row).strip():
                cells += max(len(row), len(self.head.header))
                cells += content.count(",") + content.count(";")
                if cells > MAX_PARTS:
                    raise UnreadableFile("too_many_parts", reader.line_num, limit=MAX_PARTS)
                yield reader.line_num, row

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The rows of CSV below the header, each `fitted` to it."""
        width = len(self.head.header)
        return ((line, fitted(row, width)) for line, row in self.rows() if line > self.header_line)

    def named_records(self) -> Iterator[tuple[int, dict[str, str]]]:
        """The rows of CSV below the header, by the names of the columns."""
        for line, row in self.records():
            yield line, dict(zip(self.head.header, row, strict=False))

    def _encoding(self) -> str:
        self._file.seek(0)
        start = self._file.read(8)
        if start.startswith(b"PK\x03\x04"):
            raise UnreadableFile("is_archive")
        found = next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8")
        try:
            self._try(found)
        except UnicodeDecodeError as error:
            line = self._lines_read + error.object[: error.start].count(b"\n")
            if found != "utf-8" or not self._is_windows():
                raise UnreadableFile("wrong_encoding", line) from error
            self.notes.append(Note("windows_1252"))
            return "cp1252"
        return found

    def _is_windows(self) -> bool:
        try:
            self._try("cp1252")
        except UnicodeDecodeError:
            return False
        return True

    def _try(self, encoding: str) -> None:
        """Read everything; raises `UnicodeDecodeError` if it has another encoding."""
        decoder = codecs.getincrementaldecoder(encoding)()
        self._file.seek(0)
        self._lines_read = 1
        while True:
            piece = self._file.read(_PIECE)
            text = decoder.decode(piece, final=not piece)
            for code, found in (
                ("not_text", text.find("\x00")),
                ("bad_number", match.start() if (match := LONG_NUMBER.search(text)) else -1),
            ):
                if found >= 0:
                    line = self._lines_read + text.count("\n", 0, found)
                    raise UnreadableFile(code, line, text="…")
            if encoding == "cp1252" and any("\x7f" <= c < "\xa0" or c < "\t" for c in text):
                raise UnicodeDecodeError(encoding, b"", 0, 1, "control character")
            self._lines_read += text.count("\n")
            if not piece:
                return

    def _start(self) -> str:
        """The first letters that are not blank."""
        text = self.text()
        while piece := text.read(_PIECE):
            if found := piece.lstrip("\ufeff \t\r\n"):
                return found[:1]
        return ""

    def _json_head(self) -> Head:
        paths: set[str] = set()
        texts: dict[str, Any] = {}
        #: The path of each open object or list, and the name of the value in it that comes next.
        within: list[tuple[str, str]] = [("", "")]
        keys: list[set[str]] = [set()]
        for line, (event, value) in self._events():
            path, name = within[-1]
            if event == "map_key":
                _require_text(value, line)
                if value in keys[-1]:
                    raise UnreadableFile("repeated_key", line, name=value[:50])
                keys[-1].add(value)
                within[-1] = path, value
                continue
            if event in _ENDS:
                within.pop()
                keys.pop()
                continue
            here = f"{path}.{name}".strip(".") if len(within) <= _MAX_NAMES else path
            if event in _STARTS:
                within.append((here, "item" if event == "start_array" else ""))
                keys.append(set())
                if len(within) > MAX_DEPTH + 1:
                    raise UnreadableFile("too_deep", line, limit=MAX_DEPTH)
            else:
                _require_value(event, value, line, is_read=not here.endswith(_UNREAD))
            if len(paths) < _MAX_PATHS:
                paths.add(here)
                if event in {"string", "number"} and "item" not in here:
                    texts[here] = value
        if paths == {""}:
            raise UnreadableFile("empty_file")
        return Head(frozenset(paths), texts)

    def _events(self) -> Iterator[tuple[int, tuple[str, Any]]]:
        """The events of the JSON file with their lines."""
        events: Any = ijson.sendable_list()
        parser = ijson.basic_parse_coro(events)
        text, line, rest = self.text(), 1, ""
        try:
            while piece := text.read(_PIECE):
                rest = _after_escapes(rest + piece, line)
                # In lines, so that the line of an error is known.
                for part in piece.encode().splitlines(keepends=True):
                    parser.send(part)
                    yield from ((line, event) for event in events)
                    del events[:]
                    line += part.endswith(b"\n")
            _after_escapes(rest.ljust(len(rest) + _LONGEST_ESCAPE), line)
            parser.close()
        except InvalidOperation as error:
            raise UnreadableFile("bad_number", line, text="…") from error
        except (ijson.JSONError, ValueError) as error:
            raise UnreadableFile("malformed_json", line) from error
        yield from ((line, event) for event in events)


def fitted(row: list[str], width: int) -> list[str]:
    """A row of `width` cells: spreadsheets add blank ones at the end, or leave them off."""
    while len(row) > width and not row[-1].strip():
        row = row[:-1]
    return row + [""] * (width - len(row))


def _inside(events: Iterable[Any], path: str, number: int) -> Iterator[Any]:
    """The events from the start of an object up to that of the next one with this path."""
    count = 0
    for event in events:
        count += event[:2] == (path, "start_map")
        if count == number:
            yield event


def _after_escapes(text: str, line: int) -> str:
    """The end of a piece of JSON, in which an escape may have begun.

    Raises `UnreadableFile` for half a character, which `ijson` reads as a question mark.
    """
    at = last = max(len(text) - _LONGEST_ESCAPE, 0)
    for escape in _ESCAPE.finditer(text):
        if escape.start() >= last:
            break
        if escape[1]:
            raise UnreadableFile("lone_surrogate", line)
        at = max(at, escape.end())
    return text[at:]


def _require_text(text: str, line: int) -> None:
    if len(text) > MAX_CELL_CHARS:
        raise UnreadableFile("too_long", line, limit=MAX_CELL_CHARS)
    if "\x00" in text:
        raise UnreadableFile("not_text", line)


def _require_value(event: str, value: Any, line: int, *, is_read: bool) -> None:
    """Raise `UnreadableFile` for a text or a number that no format has."""
    if event == "string" and is_read:
        _require_text(value, line)
    elif event == "number" and not _is_short(value):
        raise UnreadableFile("bad_number", line, text=str(value)[:MAX_NUMBER_CHARS])


class _Reading(io.RawIOBase):
    """The file from its start, beside others who read it, and who close what they have read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._at = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._at)
        piece = self._file.read(len(buffer))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


class _AsUTF8:
    """A text as a binary file, as `ijson` reads it."""

    def __init__(self, text: io.TextIOBase) -> None:
        self._text = text

    def read(self, size: int = _PIECE) -> bytes:
        # `ijson` asks for nothing first, to learn whether it gets bytes.
        return self._text.read(size).encode() if size else b""


def _is_short(value: int | Decimal | float) -> bool:
    if isinstance(value, int):
        return abs(value) < 10**MAX_NUMBER_CHARS
    number = Decimal(value)
    return number.is_finite() and abs(number.adjusted()) < MAX_NUMBER_CHARS


def _bounded(text: io.TextIOBase) -> Iterator[str]:
    """The lines of a text; raises `UnreadableFile` for one that is too long to be read."""
    line = 0
    while piece := text.readline(MAX_CELL_CHARS * 2):
        line += 1
        if line > MAX_LINES:
            raise UnreadableFile("too_many_lines", line, limit=MAX_LINES)
        if len(piece) >= MAX_CELL_CHARS * 2:
            raise UnreadableFile("too_long", line, limit=MAX_CELL_CHARS)
        yield piece


def as_json(value: object) -> str:
    """`value` as compact text that is always the same for the same value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str)
