"""Files that are no pictures, as programs write them and as nobody should."""

import io
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from plugins.attachments.recognition import Kind

Entries = dict[str, bytes | str]
_MAIN = {
    Kind.DOCX: "word/document.xml",
    Kind.XLSX: "xl/workbook.xml",
    Kind.PPTX: "ppt/presentation.xml",
}
GPX = (
    b'<?xml version="1.0"?>\n<!-- a walk -->\n<gpx version="1.1" creator="x" '
    b'xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="38.7" lon="-9.1"/></gpx>'
)
ICS = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n"
EML = b"Date: Thu, 14 May 2026 21:40:00 +0000\r\nFrom: a@example.com\r\nSubject: x\r\n\r\nHello\r\n"


def zipped(entries: Entries, compression: int = ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w", compression) as archive:
        for name, content in entries.items():
            stored = ZIP_STORED if name == "mimetype" else compression
            archive.writestr(name, content, stored)
    return out.getvalue()


def content_types(kind: Kind, *more: str, main: str = "") -> str:
    types = [main or f"{kind.value}.main+xml", *more]
    rows = "".join(f'<Override PartName="/p{at}" ContentType="{t}"/>' for at, t in enumerate(types))
    space = "http://schemas.openxmlformats.org/package/2006/content-types"
    return f'<?xml version="1.0"?><Types xmlns="{space}">{rows}</Types>'


def office(kind: Kind, more: Entries | None = None, types: str = "") -> bytes:
    """A file of Office with these further entries."""
    first: Entries = {"[Content_Types].xml": types or content_types(kind)}
    return zipped(first | {_MAIN[kind]: "<document/>"} | (more or {}))


def open_document(kind: Kind, more: Entries | None = None) -> bytes:
    first: Entries = {"mimetype": kind.value, "content.xml": "<office/>"}
    return zipped(first | (more or {}))


ACCEPTED = {
    Kind.TEXT: "Grüße aus Lisboa.\n".encode(),
    Kind.CSV: b'Name,Amount\n"Lima, Ana",3\nBo,4\n',
    Kind.ICS: ICS,
    Kind.EML: EML,
    Kind.GPX: GPX,
    **{kind: office(kind) for kind in _MAIN},
    **{kind: open_document(kind) for kind in (Kind.ODT, Kind.ODS, Kind.ODP)},
}
