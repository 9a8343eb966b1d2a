"""Checks one file that is no picture. `processing.py` runs it as a process of its own.

It reads `source` in the given folder and changes nothing; it knows neither settings nor database.
The exit status says why a file is refused; any that is not named here means that it is not what it
seemed to be.
"""

import re
import resource
import sys
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat  # noqa: S407 -- refuses what declares entities
from zipfile import ZipFile, ZipInfo

MEBIBYTE = 1024 * 1024
#: The exit statuses for macros, and for an archive that is too large once it is unpacked.
HAS_MACROS, TOO_LARGE = 4, 5
#: The most that an archive may unpack to, in all, and how many times its size if that is much.
MAX_UNPACKED, MAX_RATIO, MUCH = 100 * MEBIBYTE, 200, 10 * MEBIBYTE
#: How large the list of types of an Office archive may be.
MAX_TYPES_BYTES = MEBIBYTE
#: How many entries, and how many archives within archives, such as the table behind a diagram.
MAX_ENTRIES, MAX_DEPTH = 3000, 2
_MEMORY_BYTES, _CPU_SECONDS = 512 * MEBIBYTE, 7
_CHUNK = 64 * 1024
#: Names of what is run when somebody opens the file.
_MACROS = re.compile(
    r"(^|/)(vbaproject(signature\w*)?\.bin|vbadata\.xml|macrosheets/.*)$|^(basic|scripts)/", re.I
)
#: The same by the types that an Office archive gives to its parts.
_MACRO_TYPES = re.compile(r"macroenabled|vbaproject|vbadata|macrosheet", re.I)
#: An object within a file may be of Office until 2003; these have macros under this name.
_OLD_OFFICE, _OLD_MACROS = b"\xd0\xcf\x11\xe0", "_VBA_PROJECT".encode("utf-16-le")
_CONTENT_TYPES = "[content_types].xml"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_GPX_SPACES = ("http://www.topografix.com/GPX/1/0", "http://www.topografix.com/GPX/1/1")


class Refused(Exception):
    """The file is not what it seemed to be."""


def main(folder: Path, media_type: str) -> None:
    """Check `source` in `folder`."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    # At the first, the process gets SIGXCPU, and SIGKILL only at the second.
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS + 1))
    source = folder / "source"
    if media_type.startswith("application/vnd."):
        with source.open("rb") as file:
            _Archive(source.stat().st_size).check(file, media_type)
    elif media_type == "application/gpx+xml":
        check_gpx(source.read_bytes())
    else:
        check_text(source.read_bytes(), media_type)


def check_text(content: bytes, media_type: str) -> None:
    """Raise `Refused` for a text that has something else further on."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16")
    else:
        # Other encodings have the same control characters, and no others are refused.
        text = content.decode("latin-1")
    # Of Windows-1252, the characters from 0x80 are letters.
    if re.search(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]", text):
        raise Refused("not a text")
    if media_type == "text/calendar" and not text.rstrip().upper().endswith("\nEND:VCALENDAR"):
        raise Refused("not a calendar")


def check_gpx(content: bytes) -> None:
    """Raise `Refused` unless it is well-formed GPX without a document type."""
    roots: list[str] = []

    def start(name: str, _attributes: Any) -> None:
        if not roots:
            roots.append(name)

    _parse(content, start)
    if roots[0] not in {f"{space} gpx" for space in _GPX_SPACES}:
        raise Refused("not GPX")


def _parse(content: bytes, start: Any) -> None:
    """Parse XML; a document type, which could declare entities, is refused."""

    def refuse(*_declared: Any) -> None:
        raise Refused("a document type")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.Parse(content, True)


class _Archive:
    """An archive of this size, and all within it."""

    def __init__(self, size_bytes: int) -> None:
        self._most = min(MAX_UNPACKED, max(MUCH, MAX_RATIO * size_bytes))
        self._unpacked = self._entries = 0

    def check(self, file: IO[bytes], media_type: str = "", depth: int = 0) -> None:
        """Exit if it has macros or is too large; raise `Refused` if it is no such file."""
        if depth > MAX_DEPTH:
            sys.exit(TOO_LARGE)
        with ZipFile(file) as archive:
            self._entries += len(archive.infolist())
            if self._entries > MAX_ENTRIES:
                sys.exit(TOO_LARGE)
            if len({*archive.namelist()}) < len(archive.infolist()):
                raise Refused("an entry twice")
            for entry in archive.infolist():
                self._check_entry(archive, entry, media_type, depth)

    def _check_entry(self, archive: ZipFile, entry: ZipInfo, media_type: str, depth: int) -> None:
        name = entry.filename.replace("\\", "/").lstrip("/").lower()
        if _MACROS.search(name):
            sys.exit(HAS_MACROS)
        if not {".", ".."}.isdisjoint(name.split("/")):
            raise Refused("a path that may lead elsewhere")
        content = self._unpack(archive, entry)
        if name == _CONTENT_TYPES:
            _check_content_types(content, media_type)
        elif name == "mimetype" and media_type.startswith(_OPEN_DOCUMENT):
            if content.decode("ascii") != media_type:
                raise Refused("another type")
        elif content.startswith(_OLD_OFFICE) and _OLD_MACROS in content:
            sys.exit(HAS_MACROS)
        elif content.startswith(b"PK\x03\x04"):
            self.check(BytesIO(content), depth=depth + 1)
        elif name.endswith((".xml", ".rels")):
            # Readers of Office resolve entities; nothing that it writes declares any.
            start = content[:4096].replace(b"\0", b"").upper()
            if b"<!DOCTYPE" in start or b"<!ENTITY" in start:
                raise Refused("a document type")

    def _unpack(self, archive: ZipFile, entry: ZipInfo) -> bytes:
        """The content of an entry, however long it says that it is."""
        parts = []
        with archive.open(entry) as file:
            while part := file.read(_CHUNK):
                self._unpacked += len(part)
                if self._unpacked > self._most:
                    sys.exit(TOO_LARGE)
                parts.append(part)
        return b"".join(parts)


def _check_content_types(content: bytes, media_type: str) -> None:
    """Exit if a part has a type with macros; raise `Refused` if the main part has another one."""
    if len(content) > MAX_TYPES_BYTES:
        sys.exit(TOO_LARGE)
    types: list[str] = []
    _parse(content, lambda _name, attributes: types.append(attributes.get("ContentType", "")))
    if any(_MACRO_TYPES.search(word) for word in types):
        sys.exit(HAS_MACROS)
    if media_type and f"{media_type}.main+xml" not in types:
        raise Refused("another type")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
