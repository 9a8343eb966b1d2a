"""The type of a file, recognised by its content and never by its name.

What is recognised here is only how a file begins and what an archive lists; whether the rest keeps
the promise is found out by a worker. The file is shown to nobody before.
"""

import re
from importlib.util import find_spec
from typing import IO
from zipfile import BadZipFile, ZipFile

from django.db import models

#: How many bytes of a file `kind_of` needs.
START_BYTES = 16
#: Of how many bytes at the start a text is recognised.
SAMPLE_BYTES = 64 * 1024
#: How long the list of an archive may be: Office writes some hundred entries.
MAX_LIST_BYTES = 512 * 1024
#: What a HEIC or another HEIF picture calls itself after `ftyp`.
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
#: The files of Office until 2003, which may have macros in many places.
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
#: What follows the list of an archive, its length, and how far from the end it can be. Large ones
#: have another list, to which a locator before it leads.
_END_OF_LIST, _END_LENGTH, _END_BYTES = b"PK\x05\x06", 22, 65_557
_LOCATOR, _LOCATOR_LENGTH = b"PK\x06\x07", 20
_ENCODINGS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
#: Characters that no text has.
_CONTROL = re.compile(r"[^\t\n\x0b\f\r\x1b\x20-\x7e\x85\xa0-\U0010ffff]")
_XML_DECLARATION, _GPX = re.compile(r"\A<\?xml[^>]*>"), re.compile(r"<(\w+:)?gpx[\s>]")
_HEADER = re.compile(r"([!-9;-~]+):[ \t]")
#: An e-mail has a sender and one of these.
_HEADERS = {"date", "received", "message-id"}


class Kind(models.TextChoices):
    """The media type of an attachment."""

    JPEG = "image/jpeg", "JPEG"
    PNG = "image/png", "PNG"
    WEBP = "image/webp", "WebP"
    HEIC = "image/heic", "HEIC"
    PDF = "application/pdf", "PDF"
    TEXT = "text/plain", "TXT"
    CSV = "text/csv", "CSV"
    ICS = "text/calendar", "iCalendar"
    EML = "message/rfc822", "EML"
    GPX = "application/gpx+xml", "GPX"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "DOCX"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "XLSX"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation", "PPTX"
    ODT = "application/vnd.oasis.opendocument.text", "ODT"
    ODS = "application/vnd.oasis.opendocument.spreadsheet", "ODS"
    ODP = "application/vnd.oasis.opendocument.presentation", "ODP"


PICTURES = {Kind.JPEG, Kind.PNG, Kind.WEBP, Kind.HEIC}
_EXTENSIONS = {Kind.JPEG: "jpg", Kind.TEXT: "txt", Kind.ICS: "ics"}
#: The entry that each type of an Office archive has.
_OFFICE = {
    "word/document.xml": Kind.DOCX,
    "xl/workbook.xml": Kind.XLSX,
    "ppt/presentation.xml": Kind.PPTX,
}
_OPEN_DOCUMENT = {kind.value.encode(): kind for kind in (Kind.ODT, Kind.ODS, Kind.ODP)}


def extension_of(media_type: str) -> str:
    """How the names of files of a stored type end; a newer release may have stored others."""
    if media_type not in Kind.values:
        return "bin"
    kind = Kind(media_type)
    return _EXTENSIONS.get(kind, kind.name.lower())


def kind_of(start: bytes) -> Kind | None:
    """The type of a picture or PDF that begins with these bytes, or None if it is neither."""
    if start.startswith(b"\xff\xd8\xff"):
        return Kind.JPEG
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return Kind.PNG
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return Kind.WEBP
    # Readers of PDF accept other bytes before it, which is how a file can be of two types.
    if start.startswith(b"%PDF-"):
        return Kind.PDF
    if start[4:8] == b"ftyp" and start[8:12] in _HEIF_BRANDS and find_spec("pillow_heif"):
        return Kind.HEIC
    return None


def kind_of_file(file: IO[bytes]) -> Kind | None:
    """The type that a file seems to have, or None if it is none that is accepted."""
    file.seek(0)
    sample = file.read(SAMPLE_BYTES)
    if sample.startswith(b"PK\x03\x04"):
        return _kind_of_archive(file)
    return kind_of(sample) or _kind_of_text(sample)


def is_old_office(start: bytes) -> bool:
    """Whether a file that begins with these bytes is a .doc, .xls or .ppt."""
    return start.startswith(_OLD_OFFICE)


def text_of(content: bytes) -> str | None:
    """The text of a file in UTF-8, UTF-16 with its mark, or Windows-1252; None if it is no text."""
    marked = next((name for mark, name in _ENCODINGS if content.startswith(mark)), None)
    for encoding in [marked] if marked else ["utf-8", "cp1252"]:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return None if _CONTROL.search(text) else text
    return None


def _kind_of_text(sample: bytes) -> Kind | None:
    """Of a text; None for HTML, SVG and other markup, which browsers recognise by its start."""
    if not sample:
        return None
    # The sample may end within a character.
    shortest = len(sample) - (3 if len(sample) == SAMPLE_BYTES else 0)
    ends = range(len(sample), shortest - 1, -1)
    text = next((text for end in ends if (text := text_of(sample[:end])) is not None), None)
    if text is None:
        return None
    start = text.lstrip("\ufeff \t\r\n\f")
    if start.startswith("<"):
        return Kind.GPX if _is_gpx(start[:4096]) else None
    # Programs take it for PDF or PostScript.
    if "%PDF-" in start[:1024] or start.startswith("%!PS"):
        return None
    if start[:15].upper() == "BEGIN:VCALENDAR":
        return Kind.ICS
    if _is_mail(start):
        return Kind.EML
    return Kind.CSV if _is_table(text.splitlines()[:20]) else Kind.TEXT


def _is_gpx(start: str) -> bool:
    """Whether the first element is `gpx`, after a declaration and comments."""
    rest = _XML_DECLARATION.sub("", start).lstrip()
    while rest.startswith("<!--"):
        rest = rest.partition("-->")[2].lstrip()
    return _GPX.match(rest) is not None


def _is_mail(text: str) -> bool:
    """Whether a text begins with headers of an e-mail."""
    found = set()
    for line in text.splitlines()[:200]:
        header = _HEADER.match(line)
        if header:
            found.add(header[1].lower())
        elif not found or not line.startswith((" ", "\t")):
            break
    return "from" in found and bool(found & _HEADERS)


def _is_table(lines: list[str]) -> bool:
    """Whether these lines have equally many columns, at least two: then a text is called CSV."""
    filled = [re.sub(r'"[^"]*"', "", line) for line in lines if line.strip()]
    columns = ({line.count(separator) for line in filled} for separator in ",;\t")
    return len(filled) > 1 and any(len(counts) == 1 and 0 not in counts for counts in columns)


def _kind_of_archive(file: IO[bytes]) -> Kind | None:
    """By the entries that an Office archive has, and by what an OpenDocument says it is."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END_BYTES))
    if not 0 < _list_bytes(file.read()) <= MAX_LIST_BYTES:
        return None
    try:
        with ZipFile(file) as archive:
            names = archive.namelist()
            found = [kind for name, kind in _OFFICE.items() if name in names]
            if "[Content_Types].xml" in names:
                return found[0] if len(found) == 1 else None
            if names and names[0] == "mimetype" and archive.infolist()[0].compress_type == 0:
                with archive.open("mimetype") as entry:
                    return _OPEN_DOCUMENT.get(entry.read(100))
    except (BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError):
        return None
    return None


def _list_bytes(end: bytes) -> int:
    """How long the list of an archive with this end is, as `ZipFile` reads it; 0 if it is none."""
    at = len(end) - _END_LENGTH
    if not (end[at:].startswith(_END_OF_LIST) and end.endswith(b"\0\0")):
        at = end.rfind(_END_OF_LIST)
    before = max(0, at - _LOCATOR_LENGTH)
    if at < 0 or end[before:at].startswith(_LOCATOR):
        return 0
    return int.from_bytes(end[at + 12 : at + 16], "little")
