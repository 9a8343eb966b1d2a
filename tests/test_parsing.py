"""One strict reader of bodies: what is JSON to everybody is read, the rest is refused."""

import json
from decimal import Decimal

import pytest

from tests.document import problem_of
from tests.trips.bodies import lisbon

pytestmark = pytest.mark.either

MALFORMED = {
    "an open brace": b"{",
    "blanks": b"  ",
    "a trailing comma": b'{"name": "Olga",}',
    "single quotes": b"{'name': 'Olga'}",
    "no quotes": b"{name: 1}",
    "a comment": b'{"name": "Olga"} // x',
    "two objects": b"{} {}",
    "an array": b"[{}]",
    "an empty array": b"[]",
    "null": b"null",
    "a text": b'"text"',
    "a number": b"1",
    "true": b"true",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"name": "Olga"}'.encode("utf-16"),
    "UTF-32": '{"name": "Olga"}'.encode("utf-32-le"),
    "Latin-1": b'{"name": "\xe9\xe9"}',
    "overlong UTF-8": b'{"name": "\xc0\x80"}',
    "a surrogate in UTF-8": b'{"name": "\xed\xa0\x80"}',
    "a raw control character": b'{"name": "\x01"}',
    "a raw line break in a text": b'{"name": "Ol\nga"}',
    "a raw NUL": b'{"name": "Olga"}\x00',
    "an unknown escape": b'{"name": "\\x41bc"}',
    "a duplicate key": b'{"name": "Olga", "name": "Olga"}',
    "a duplicate key inside": b'{"a": [{"b": 1, "b": 2}]}',
    "keys that are alike when unescaped": b'{"name": "Olga", "n\\u0061me": "Ed"}',
    "33 levels": b'{"a":' * 33 + b"1" + b"}" * 33,
    "33 levels of arrays": b'{"a":' + b"[" * 32 + b"]" * 32 + b"}",
    "100,000 levels": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "100,000 levels of arrays": b'{"a":' + b"[" * 100_000,
    "a leading zero": b'{"a": 01}',
    "a bare fraction": b'{"a": .5}',
    "a bare point": b'{"a": 5.}',
    "a plus": b'{"a": +1}',
    "a hexadecimal number": b'{"a": 0x10}',
    "full-width digits": '{"a": １}'.encode(),
    "5,000 digits": b'{"a": ' + b"9" * 5000 + b"}",
    "an exponent of 20 digits": b'{"a": 1e99999999999999999999}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": [-Infinity]}',
}


@pytest.fixture
def put(api, olga):
    """Send raw bytes as Olga's profile."""

    def put_profile(body, content_type="application/json"):
        return api(olga).generic("PUT", f"/api/users/{olga.pk}/profile", body, content_type)

    return put_profile


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_strict_json_object_is_refused_without_internals(put, olga, body):
    """T52, T114: A body is one strictly parsed JSON object with at most 32 levels of nesting."""
    document = problem_of(put(body), 400, "malformed_json")
    assert "errors" not in document
    for internal in ("class", "decimal", "sys.", "codec", "Traceback", "recursion", "char"):
        assert internal not in document["detail"].replace("character", "")
    olga.refresh_from_db()
    assert olga.name == "Olga Owner"


@pytest.mark.parametrize("text", ["\\u0000", "a\\u0000b", "\\ud800", "\\udfff\\ud800", "a\\udc00"])
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"name": "%s"}', "name"),
        ('{"unknown": "%s"}', "unknown"),
        ('{"name": {"a": ["b", "%s"]}}', "name.a.1"),
        ('{"a": {"%s": 1}}', "a"),
    ],
)
def test_nul_and_lone_surrogates_are_refused_by_the_name_of_their_place(put, text, body, field):
    document = problem_of(put((body % text).encode()), 400, "malformed_json")
    assert list(document["errors"]) == [field]
    assert document["detail"].startswith(f"{field}: ")


@pytest.mark.parametrize("key", ["\\u0000", "a\\ud800"])
def test_a_key_of_the_body_itself_may_not_hold_them_either(put, key):
    assert "errors" not in problem_of(put(f'{{"{key}": 1}}'.encode()), 400, "malformed_json")


@pytest.mark.parametrize(
    "name",
    ["Ölga Ünal", "\U0001f9f3 Olga", "オルガ", "O\u0308lga", "Olga\u202e", "O'Hara; --", "<b>O"],
)
@pytest.mark.parametrize("escaped", [True, False])
def test_all_of_unicode_is_read_and_given_back_as_it_came(put, name, escaped):
    body = json.dumps({"name": name}, ensure_ascii=escaped).encode()
    assert json.loads(put(body).content)["name"] == name


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":' * 31 + b'{"b": 1}' + b"}" * 31,
        b'{"a":' + b"[" * 31 + b"]" * 31 + b"}",
        b' \t\r\n{"a": 1}\r\n',
        b'{"a": 1e400, "b": -0.0, "c": 1E-5000}',
        b'{"a": ' + b"9" * 4000 + b"}",
        b'{"a": {"n": 1}, "b": {"n": 2}}',
        b"{}",
    ],
    ids=["32 levels", "32 levels of arrays", "blanks around", "exponents", "4,000 digits",
         "one key in two objects", "nothing"],
)  # fmt: skip
def test_what_is_strict_json_is_read_and_unknown_fields_change_nothing(put, olga, body):
    assert put(body).status_code == 200
    name, email, role = olga.name, olga.email, olga.role
    olga.refresh_from_db()
    assert (olga.name, olga.email, olga.role) == (name, email, role)


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"',
     "application/json;charset=utf8", "application/json; profile=x"],
)  # fmt: skip
def test_json_is_read_under_every_spelling_of_its_type(put, content_type):
    assert put(b'{"name": "Olga"}', content_type).status_code == 200


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "text/json", "application/xml", "application/x-www-form-urlencoded",
     "multipart/form-data; boundary=x", "application/problem+json", "application/*", "*/*",
     "application/json; charset=latin-1", "application/json; charset=utf-16", "json", "", "/", ";"],
)  # fmt: skip
def test_any_other_type_is_refused(put, content_type):
    """T113: A body is JSON in UTF-8."""
    problem_of(put(b'{"name": "Olga"}', content_type), 415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("literal", "amount"),
    [
        ("0.01", "0.01"),
        ("1E1", "10.00"),
        ("0.1e1", "1.00"),
        ('"12.34"', "12.34"),
        ("33.333", "33.33"),
        ("33.335", "33.34"),
        ("1.005", "1.01"),
        ("2.675", "2.68"),
        ("999999999999.99", "999999999999.99"),
        ("1000000000000", "1000000000000.00"),
    ],
)
def test_an_amount_is_what_was_typed_and_not_the_nearest_float(api, olga, literal, amount):
    body = json.dumps(lisbon(budget="<budget>")).replace('"<budget>"', literal).encode()
    response = api(olga).generic("POST", "/api/trips", body, "application/json")
    assert response.status_code == 201, response.content
    assert json.loads(response.content, parse_float=Decimal)["budget"] == Decimal(amount)
