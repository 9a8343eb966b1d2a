"""Texts, Office files and others: recognised by content, checked by a worker, never rendered."""

import io
from zipfile import ZipFile

import pytest

from plugins.attachments import checking, recognition
from plugins.attachments.models import Attachment
from plugins.attachments.processing import process
from plugins.attachments.recognition import Kind, kind_of_file
from plugins.attachments.tests.conftest import stored
from plugins.attachments.tests.office import (
    ACCEPTED,
    EML,
    GPX,
    ICS,
    content_types,
    office,
    open_document,
    zipped,
)
from plugins.attachments.tests.pictures import PDF, picture, send

pytestmark = pytest.mark.either

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize("kind", ACCEPTED)
def test_each_type_is_recognised_checked_and_downloaded(kind, attach, api, olga):
    # The name says something else.
    made = attach(ACCEPTED[kind], "receipt.html")
    assert (made["type"], made["state"]) == (kind.value, "processing")
    refused = api(olga).get(made["url"])
    assert (refused.status_code, refused.json()["code"]) == (409, "still_processing")
    assert process()
    row = Attachment.objects.get()
    assert (row.state, row.refusal, row.thumbnail) == ("ready", "", "")
    answer = api(olga).get(made["url"])
    assert answer.content == ACCEPTED[kind]
    assert answer["Content-Type"].partition(";")[0] == kind.value
    name = f"receipt.{recognition.extension_of(kind)}"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox; default-src 'none'")


AT_ONCE = {
    "HTML": b"<!doctype html><script>alert(1)</script>",
    "HTML after a mark and spaces": b"\xef\xbb\xbf \r\n\t<HTML><body>",
    "HTML in UTF-16": "\ufeff<html>".encode("utf-16-le"),
    "SVG": b"<svg xmlns='http://www.w3.org/2000/svg' onload='x'/>",
    "SVG after a declaration": b"<?xml version='1.0'?><!-- --><svg/>",
    "SVG that speaks of GPX": b"<svg><!-- <gpx > --></svg>",
    "other XML": b"<?xml version='1.0'?><kml/>",
    "comments without end": b"<!-- -->" * 8000,
    "GPX with a document type": b"<!DOCTYPE gpx [<!ENTITY a 'a'>]>" + GPX,
    "PDF after a space": b" %PDF-1.7",
    "PDF after a program": b"MZ" + PDF,
    "PostScript": b"%!PS-Adobe-3.0\n",
    "GIF": picture("GIF"),
    "TIFF": picture("TIFF"),
    "AVIF": b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00",
    "zero bytes": b"Hello\0World",
    "a program": b"\x7fELF\x02\x01\x01",
    "control characters": b"Hello \x08 World",
    "UTF-16 without a mark": "Hello".encode("utf-16-le"),
    "an archive of something": zipped({"a.txt": "x"}),
    "two types of Office": office(Kind.DOCX, {"xl/workbook.xml": ""}),
    "Office without types": zipped({"word/document.xml": ""}),
    "a template": zipped({"mimetype": f"{Kind.ODT.value}-template"}),
    "OpenDocument that says so later": zipped({"a": "", "mimetype": Kind.ODT.value}),
    "only the start of an archive": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("content", AT_ONCE.values(), ids=AT_ONCE)
def test_other_types_are_refused_at_once(content, api, olga, dinner, folder):
    answer = send(api(olga), f"/api/expenses/{dinner.pk}/attachments", content, "receipt.txt")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_type")
    assert stored(folder) == []


def test_old_office_files_are_refused_with_what_to_do(api, olga, dinner):
    answer = send(api(olga), f"/api/expenses/{dinner.pk}/attachments", OLE, "plan.doc")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_type")
    assert "DOCX" in answer.json()["detail"]


def twice(name):
    out = io.BytesIO(office(Kind.DOCX))
    with ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(name, "<document/>")
    return out.getvalue()


VBA = "application/vnd.ms-office.vbaProject"
MACRO_MAIN = "application/vnd.ms-word.document.macroEnabled.main+xml"
WITH_OLD_MACROS = OLE + "_VBA_PROJECT".encode("utf-16-le")
MACROS = {
    "a project": office(Kind.DOCX, {"word/vbaProject.bin": b"x"}),
    "a project in other letters": office(Kind.XLSX, {"xl\\VBAPROJECT.BIN": b"x"}),
    "a sheet of macros": office(Kind.XLSX, {"xl/macrosheets/sheet1.xml": "<x/>"}),
    "a project by type": office(Kind.PPTX, {"p.bin": b"x"}, content_types(Kind.PPTX, VBA)),
    "a main part": office(Kind.DOCX, types=content_types(Kind.DOCX, main=MACRO_MAIN)),
    "types in UTF-16": zipped({
        "[Content_Types].xml": content_types(Kind.DOCX, VBA)
        .replace('<?xml version="1.0"?>', "").encode("utf-16"),
        "word/document.xml": "",
    }),
    "Basic": open_document(Kind.ODS, {"Basic/Standard/Module1.xml": "<x/>"}),
    "scripts": open_document(Kind.ODT, {"Scripts/python/a.py": "x"}),
    "a sheet within a text": office(
        Kind.DOCX, {"word/embeddings/a.xlsx": office(Kind.XLSX, {"xl/vbaProject.bin": b"x"})}
    ),
    "an old object within": office(Kind.DOCX, {"word/embeddings/a.bin": WITH_OLD_MACROS}),
}  # fmt: skip
LARGE = {
    "much that repeats": office(Kind.DOCX, {"word/a.bin": bytes(12 * 1024**2)}),
    "many entries": office(Kind.DOCX, {f"{at}": b"" for at in range(checking.MAX_ENTRIES)}),
    "archives in archives": office(
        Kind.DOCX, {"a": zipped({"a": zipped({"a": zipped({"a": b"x"})})})}
    ),
    "a long list of types": zipped(
        {
            "[Content_Types].xml": content_types(Kind.DOCX) + " " * checking.MAX_TYPES_BYTES,
            "word/document.xml": "",
        }
    ),
    "much in an archive within": office(Kind.DOCX, {"a": zipped({"a": bytes(12 * 1024**2)})}),
}
OTHERWISE = {
    "an entry twice": None,
    "a path that leads out": office(Kind.DOCX, {"../word/a.xml": "<x/>"}),
    "a path that leads in": open_document(Kind.ODT, {"./Basic/Standard/Module1.xml": "<x/>"}),
    "entities": office(Kind.DOCX, {"word/a.xml": BOMB + b"<x>&b;</x>"}),
    "entities in UTF-16": office(Kind.DOCX, {"a.xml": BOMB.decode().encode("utf-16")}),
    "entities in types": office(Kind.DOCX, types=BOMB.decode() + content_types(Kind.DOCX)),
    "another main part": office(Kind.DOCX, types=content_types(Kind.XLSX)),
    "types that are no XML": office(Kind.DOCX, types="<Types"),
    "a broken entry": office(Kind.DOCX).replace(b"PK\x03\x04", b"PK\x03\x05").replace(
        b"PK\x03\x05", b"PK\x03\x04", 1
    ),
    "GPX with entities": GPX.replace(b"<!-- a walk -->\n", b"").replace(
        b"<wpt", b"<!-- --><wpt"
    ).replace(b"</gpx>", b"&a;</gpx>"),
    "GPX that does not end": GPX[:-6],
    "GPX of another name space": GPX.replace(b"topografix", b"example"),
    "a calendar that does not end": ICS[:-20],
    "zero bytes later": b"Hello\n" * 20_000 + b"\0",
}  # fmt: skip
REASONS = {"macros": MACROS, "too_large": LARGE, "unreadable": OTHERWISE}


@pytest.mark.parametrize(
    ("reason", "name"), [(reason, name) for reason in REASONS for name in REASONS[reason]]
)
def test_what_is_found_later_is_refused_and_deleted(reason, name, attach, api, olga, folder):
    made = attach(REASONS[reason][name] or twice("word/document.xml"), "plan.docx")
    assert process()
    row = Attachment.objects.get()
    assert (row.state, row.refusal, row.size_bytes) == ("refused", reason, 0)
    assert stored(folder) == []
    answer = api(olga).get(made["url"])
    assert (answer.status_code, answer.json()["code"]) == (409, "attachment_refused")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("Ñandú; 3\n".encode("cp1252"), Kind.TEXT),
        ("Ñandú;3\nPato;4\n".encode("cp1252"), Kind.CSV),
        ("a\tb\nc\td\n".encode("utf-16"), Kind.CSV),
        (b"One line, of prose\n", Kind.TEXT),
        (b"One, of prose\nand more, of it, then\n", Kind.TEXT),
        (b"Note: call them\nFrom: here\n", Kind.TEXT),
        (b"Received: by x\r\n\tfor y\r\nFrom: z\r\n\r\n", Kind.EML),
        (EML.replace(b"Hello", "Olá".encode("latin-1")), Kind.EML),
        (b"begin:vcalendar\n", Kind.ICS),
        (b"\xef\xbb\xbf" + GPX, Kind.GPX),
        (("é" * 40_000).encode(), Kind.TEXT),
        (("x" + "é" * 40_000).encode(), Kind.TEXT),
        (b"Dear <b>Ana</b>, a < b\n", Kind.TEXT),
    ],
)
def test_texts_are_told_apart(content, kind):
    assert kind_of_file(io.BytesIO(content)) == kind


def test_the_list_of_an_archive_is_not_read_if_it_is_long(monkeypatch):
    read = []
    monkeypatch.setattr(recognition, "ZipFile", lambda file: read.append(file))
    content = office(Kind.DOCX)
    size = (recognition.MAX_LIST_BYTES + 1).to_bytes(4, "little")
    assert kind_of_file(io.BytesIO(content[:-10] + size + content[-6:])) is None
    # One whose length is elsewhere.
    large = content[:-22] + b"PK\x06\x07" + bytes(16) + content[-22:]
    assert kind_of_file(io.BytesIO(large)) is None
    assert read == []


def test_a_worker_leaves_types_of_a_newer_release_alone(attach):
    attach(ACCEPTED[Kind.TEXT])
    Attachment.objects.update(type="application/x-newer")
    assert process()
    assert Attachment.objects.get().state == "processing"
