"""Files that nobody should send are refused with the line, and write nothing."""

import fractions
import gzip
import io
import json
import sys
import zipfile
from collections import Counter
from decimal import Decimal
from random import Random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from plugins.exchange.description import UnreadableFile
from plugins.exchange.formats import abrechnung, ihatemoney, numbers, reading
from plugins.exchange.formats.columns import still_called
from plugins.exchange.models import Import, ImportedRow
from plugins.exchange.source import LONG_NUMBER, MAX_CELL_CHARS, MAX_LINES, SourceFile
from plugins.exchange.tests import samples
from plugins.exchange.tests.conftest import send_form
from plugins.exchange.tests.copies import file_of
from plugins.exchange.tests.reading import codes, entries, planned, read, skipped
from plugins.exchange.tests.samples import SPLITPRO_CSV
from tests.test_linear_time import least_seconds
from tripcompanion.api.serializers import has_many_marks

pytestmark = pytest.mark.either

SPLITWISE = b"Date,Description,Category,Cost,Currency,Ana,Ben\n"


def bomb():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", b"0" * 10_000_000)
    return packed.getvalue()


OWN = samples.SPLITPRO_CSV.encode()
FILES = {
    "nothing": (b"", "empty_file", None),
    "blanks": (b" \r\n\t\n", "empty_file", None),
    "an archive": (bomb(), "is_archive", None),
    "a compressed file": (gzip.compress(b"a,b\n", mtime=0), "not_text", 1),
    "no text": (SPLITWISE + b"a\x00b\n", "not_text", 2),
    "wrong UTF-8": (SPLITWISE + b"\xff\xfe\x81,x\n", "wrong_encoding", 2),
    "wrong UTF-8 far below a control character": (
        SPLITWISE + b"\x01" + b"x\n" * 100_000 + b"\xff\n",
        "wrong_encoding",
        100_002,
    ),
    "half of UTF-16": (b"\xff\xfea", "wrong_encoding", 1),
    "a long cell": (SPLITWISE + b"x" * (MAX_CELL_CHARS + 1) + b",y\n", "too_long", 2),
    "a long line": (
        SPLITWISE + b",".join([b"x" * (MAX_CELL_CHARS - 1)] * 3) + b"\n",
        "too_long",
        2,
    ),
    "a quote that does not end": (SPLITWISE + b'"' + b"x\n" * 200_000, "malformed_csv", None),
    "many columns": (b"," * 600 + b"\n", "too_many_columns", 1),
    "many cells that short rows lack": (
        SPLITWISE.strip() + b"," * 400 + b"\n" + b"2026-05-01,Tea,Food,1\n" * 1300,
        "too_many_parts",
        1229,
    ),
    "many names in lists": (
        b"what,amount,currency,date,payer_name,payer_weight,owers\n"
        + b'Tea,2,EUR,2026-05-01,Ana,1,"%s"\n' % (b"A," * 40_000) * 13,
        "too_many_parts",
        14,
    ),
    "many lines": (SPLITWISE + b"\n" * MAX_LINES, "too_many_lines", MAX_LINES + 1),
    "deep JSON": (b'{"a":\n' + b"[" * 100_000, "too_deep", 2),
    "half of JSON": (b'{"a":\n[1,', "malformed_json", 2),
    "JSON with more behind it": (b'{"a": 1}\n{"b": 2}', "malformed_json", 2),
    "NaN": (b'{"a": NaN}', "malformed_json", 1),
    "a long number": (b'{"a":\n' + b"9" * 5000 + b"}", "bad_number", 2),
    "a large exponent": (b'{"a": 1e999999}', "bad_number", 1),
    "an exponent that no number has": (b'{"a":\n1E+99999999999999999999}', "bad_number", 2),
    "a long text in JSON": (json.dumps({"a": "x" * 200_000}).encode(), "too_long", 1),
    "NUL in JSON": (b'{"a": "\\u0000"}', "not_text", 1),
    "something else": (b"a,b,c\n1,2,3\n", "unknown_format", None),
    "no currency": (
        b"Paid By,Name,Amount,Split Type,You Lent\nYou,Hut,6,EQUAL,3\n",
        "unknown_format",
        None,
    ),
    "other JSON": (b'{"a": 1}', "unknown_format", None),
    "columns in JSON": (
        json.dumps(dict.fromkeys(samples.SPLITPRO_CSV.splitlines()[0].split(","))).encode(),
        "unknown_format",
        None,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(name, api, olga):
    """T199: A damaged or endless file to import is refused and writes nothing."""
    content, reason, line = FILES[name]
    answer = send_form(api(olga), content)
    problem = answer.json()
    code = "unknown_format" if reason == "unknown_format" else "unreadable"
    assert (answer.status_code, problem["code"]) == (400, code), problem
    assert problem["reason"] == reason
    if line is not None:
        assert problem["line"] == line
        assert f"Line {line}:" in problem["detail"]
    assert not Import.objects.exists()
    assert not ImportedRow.objects.exists()


def test_names_are_not_compared_with_all_others():
    """It would not end: every payer would be looked for in every list."""
    lines = (f"Tea,2,EUR,2026-05-01,P{at},1,P{at}\n" for at in range(30_000))
    trip = read("what,amount,currency,date,payer_name,payer_weight,owers\n" + "".join(lines))
    assert len(trip.people) == sum(1 for _entry in trip.entries) == 30_000


def layered(layers, events_each=2):
    """A file of Abrechnung in which each event passes on to all of the layer below."""
    content = json.loads(samples.ABRECHNUNG)
    ids = [[f"{layer}0{at}" for at in range(events_each)] for layer in range(1, layers + 1)]
    below = [*ids[1:], ["1", "2"]]
    content["events"] = [
        {"id": key, "name": key, "clearing_shares": dict.fromkeys(to, 1)}
        for layer, to in zip(ids, below, strict=True)
        for key in layer
    ]
    content["transactions"][0] |= {"debitor_shares": {ids[0][0]: 1}, "positions": []}
    return json.dumps(content)


def test_events_are_not_followed_in_every_way():
    """It would not end: there are a million ways from the first layer to the last."""
    [entry] = entries(read(layered(20)))
    assert entry.parts == (("1", 1100), ("2", 1100))


@pytest.mark.parametrize(
    ("content", "reason"),
    [(layered(30), "circular_events"), (layered(1, 1001), "too_many_events")],
    ids=["deep", "many"],
)
def test_more_events_than_anybody_has_are_refused(content, reason, api, olga):
    answer = send_form(api(olga), content.encode())
    assert (answer.status_code, answer.json()["reason"]) == (400, reason)


@pytest.mark.parametrize(
    ("module", "sample"), [(reading, samples.SPLIIT_JSON), (ihatemoney, samples.IHATEMONEY_JSON)]
)
def test_more_parts_of_people_in_json_than_a_group_has_are_refused(
    module, sample, api, olga, monkeypatch
):
    monkeypatch.setattr(module, "MAX_PARTS", 1)
    answer = send_form(api(olga), sample.encode())
    assert (answer.status_code, answer.json()["reason"]) == (400, "too_many_parts")


def test_more_columns_of_people_need_no_more_fractions():
    """Each would take as long as all else that is done with a cell."""

    def calls(people):
        header, parts = (b"," + b",".join([text] * people) for text in (b"P", b"-1"))
        row = f"\n2026-05-01,Tea,Food,{people},EUR,".encode()
        named = read(SPLITWISE.strip() + header + row + f"{people},0".encode() + parts)
        counted = Counter()

        def count(frame, event, _arg):
            counted[event, frame.f_code.co_filename] += 1

        sys.setprofile(count)
        try:
            assert [*named.entries][0].split_type == "EQUAL"
        finally:
            sys.setprofile(None)
        return counted["call", fractions.__file__]

    assert calls(40) == calls(20) > 0


def test_a_letter_beside_numbers_is_looked_up_once():
    for cells in (1, 1000):
        looked_up = numbers._simple.cache_info().misses
        assert numbers.Numbers([(1, "5.50 ₴")] * cells)("7.50 ₴") == Decimal("7.5")
    assert numbers._simple.cache_info().misses == looked_up


def test_items_that_are_divided_in_too_many_ways_are_skipped():
    """The sum of their parts would get a longer number with each of them."""
    content = json.loads(samples.ABRECHNUNG)
    digits = Random(7).randrange
    [item] = content["transactions"][0]["positions"]
    content["transactions"][0]["positions"] = [
        item | {"communist_shares": f"0.{digits(10**14, 10**15)}"} for _item in range(100)
    ]
    assert [*skipped(read(json.dumps(content))).values()] == ["entangled_items"]


def test_pairs_of_guests_are_as_few_as_their_members(api, olga, lived):
    """Each expense reads all of them."""
    content = json.loads(file_of(api, lived, olga))
    content["trip"]["claimedGuests"] = "1:2 " * 5_000
    answer = send_form(api(olga), json.dumps(content).encode(), asNewTrip="true")
    assert (answer.status_code, answer.json()["reason"]) == (400, "bad_value")


def test_what_no_text_of_ours_can_have_is_not_looked_at():
    """The normal form of many marks on one letter takes the square of their number."""
    marks = "\u0301\u0323" * 40_000
    assert reading.clean(f" {marks} ") == marks
    assert reading.category("x " * 40_000 + "hotel") == "OTHER"


def test_a_letter_keeps_as_many_accents_as_anybody_may_enter(olga):
    most = "\u0323" * 15 + "\u0301" * 15
    files = [SPLITPRO_CSV.replace("Hut", f"Hüq{marks}e") for marks in (most, most + "\u0301")]
    whole, cut = (planned(olga, file).rows.get(line=2) for file in files)
    assert (whole.note_list, cut.note_list) == ([], [["marks_cut", {"limit": 30}]])
    assert whole.description == cut.description == f"Hüq{most}e, night 1"
    assert has_many_marks(f"q{most}\u0301")


@pytest.mark.parametrize("content", [samples.SPLITWISE_CSV, samples.SPLIIT_JSON])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_is_recognised(content, encoding):
    name = "Bën" if encoding == "cp1252" else "Bën 🙂"
    trip = read(content.replace("Ben", name).encode(encoding, "replace"))
    assert trip.people[1].name == name
    assert ("windows_1252" in codes(trip)) == (encoding == "cp1252")


@pytest.mark.parametrize(
    "form",
    [
        {"file": "text"},
        {"file": ("a.csv", OWN), "tripid": "1"},
        {"file": ("a.csv", OWN), "tripId": "x"},
        {"file": ("a.csv", OWN), "asNewTrip": "yes"},
        {"file": ("a.csv", OWN), "mapping": "{"},
        {"file": ("a.csv", OWN), "mapping": "[]"},
        {"file": ("a.csv", OWN), "mapping": '{"You": "x"}'},
        {"file": ("a.csv", OWN), "mapping": '{"You": 1, "You": 2}'},
        {"file": ("a.csv", OWN), "timeZone": "Mars"},
        {"file": ("a.csv", OWN), "exchangeRates": '{"XYZ": 1}'},
        {"other": ("a.csv", OWN)},
        {"title": "Alps"},
    ],
    ids=str,
)
def test_a_form_that_is_wrong_is_refused(form, api, olga):
    parts = {
        name: value if isinstance(value, str) else SimpleUploadedFile(*value)
        for name, value in form.items()
    }
    body = encode_multipart(BOUNDARY, parts)
    assert api(olga).post("/api/imports", body, content_type=MULTIPART_CONTENT).status_code == 400


def test_the_line_of_an_error_is_found_after_a_long_cell():
    content = SPLITWISE + b'2026-05-01,"two\nlines",Food,1.00,EUR,0.50,-0.50\nx\x00\n'
    with pytest.raises(UnreadableFile) as caught:
        read(content)
    assert caught.value.line == 4


def entangled(events, digits, people):
    """Nineteen layers of events, each of which passes on to all of the next by long weights."""
    content = json.loads(samples.ABRECHNUNG)
    weight = Random(7).randrange
    people_ids = [str(pk) for pk in range(1, people + 1)]
    content["personal_accounts"] = [{"id": pk, "name": f"P{pk}"} for pk in people_ids]
    layers = [[f"{layer}-{at}" for at in range(events)] for layer in range(19)]
    content["events"] = [
        {
            "id": key,
            "name": key,
            "clearing_shares": {to: str(weight(1, 10**digits)) for to in below},
        }
        for layer, below in zip(layers, [*layers[1:], people_ids], strict=True)
        for key in layer
    ]
    content["transactions"][0] |= {"debitor_shares": {"0-0": 1}, "positions": []}
    return json.dumps(content)


@pytest.mark.parametrize(
    ("content", "steps"), [(entangled(12, 38, 50), None), (entangled(3, 1, 50), 1000)]
)
def test_events_that_would_take_long_to_follow_are_refused(content, steps, api, olga, monkeypatch):
    if steps:
        monkeypatch.setattr(abrechnung, "_MAX_STEPS", steps)
    answer = send_form(api(olga), content.encode())
    assert (answer.status_code, answer.json()["reason"]) == (400, "entangled_events")


def test_only_receipts_may_hold_what_no_text_has():
    within = json.loads(samples.SPLITWISE_API)
    within["expenses"][0]["comments"] = [{"content": "a\u0000b", "user": {"id": 1}}]
    with pytest.raises(UnreadableFile) as caught:
        read(json.dumps(within))
    assert caught.value.code == "not_text"
    receipt = json.loads(samples.ABRECHNUNG)
    receipt["transactions"][0]["files"] = [{"content": "a" * (MAX_CELL_CHARS + 1)}]
    assert entries(read(json.dumps(receipt)))


def test_two_at_once_read_a_file():
    rows = [{"id": at, "text": "x" * 1000} for at in range(400)]
    file = SourceFile(io.BytesIO(json.dumps({"rows": rows}).encode()))
    pairs = zip(file.items("rows.item"), file.items("rows.item"), strict=True)
    assert [(a["id"], b["id"]) for a, b in pairs] == [(at, at) for at in range(400)]


def test_a_name_of_splitpro_with_many_lines_is_read_once():
    header = SPLITPRO_CSV.splitlines()[0]

    def act(lines):
        list(read(f"{header}\n{lines}", currency="EUR").entries)

    assert least_seconds(act, "a\n" * 40_000) < 30 * least_seconds(act, "a\n" * 5_000)


def test_blanks_in_a_name_are_looked_at_once():
    def act(blanks):
        assert still_called([f"a{blanks}b"]) == [f"a{blanks}b"]

    assert least_seconds(act, " " * 16_000) < 30 * least_seconds(act, " " * 2_000)


def test_long_numbers_are_looked_for_once():
    """As long as nearly each could be."""
    number = "9" * 999 + "\n"
    assert least_seconds(LONG_NUMBER.search, number * 64) < (
        20 * least_seconds(LONG_NUMBER.search, "x" * 64_000)
    )
