"""Rows T72, T81, T115-T117 and T121-T124: unusual HTTP and unusual input break nothing."""

import json
from urllib.parse import quote

import pytest

from tests.document import problem_of
from tests.security import raw
from tests.trips.bodies import lisbon

pytestmark = pytest.mark.once

INJECTIONS = (
    *("' or 1=1--", "1;select pg_sleep(5)", "%' || '", "{{7*7}}", "${7*7}", "<script>alert(1)"),
    *("__class__", "$where", "../../etc/passwd", "\u202e\u200b", "\U0001f9f3"),
    "a\r\nSet-Cookie: x",
)


def trips_of(traveller):
    return traveller.done("GET", "/trips")["total"]


# -- Unusual HTTP ---------------------------------------------------------------------------------


def test_t72_lower_case_methods_are_no_methods(server, authorization):
    """T72: Lower-case and unknown methods are rejected."""
    line = "{} /api/users/me HTTP/1.1"
    assert raw.status_of(server, raw.request(line.format("get"), authorization)) == 400
    for method in ("TRACE", "FOO", "PROPFIND", "CONNECT"):
        [answer] = raw.send(server, raw.request(line.format(method), authorization))
        assert (answer.status, answer.headers["allow"]) == (405, "GET, DELETE, HEAD")
        assert authorization.encode() not in answer.body


def test_t115_a_length_that_can_be_read_in_two_ways_is_refused(server, authorization, travellers):
    """T115: An ambiguous content length is rejected."""
    before = trips_of(travellers[0])
    for headers in (
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Content-Length: 5", f"Content-Length: {len(raw.TRIP)}"),
        ("Transfer-Encoding: xchunked",),
        ("Transfer-Encoding: chunked, identity",),
        ("Content-Length: -1",),
        ("Content-Length: 0x10",),
        ("Content-Length: 1e2",),
        ("Bad Name: x",),
    ):
        answers = raw.send(server, raw.posting(authorization, *headers))
        assert [answer.status for answer in answers] in ([400], [501]), headers
        assert answers[0].headers["connection"] == "close"
    bare = raw.send(server, b"GET /api/health HTTP/1.1\nHost: localhost\n\n")
    assert [answer.status for answer in bare] in ([], [400])
    assert trips_of(travellers[0]) == before


def test_t116_a_body_in_chunks_is_read_whole_or_refused(
    server, authorization, travellers, environment
):
    """T116: A chunked body is read in full or rejected."""
    before = trips_of(travellers[0])
    chunked = "Transfer-Encoding: chunked"
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(raw.TRIP), raw.TRIP)
    assert raw.status_of(server, raw.posting(authorization, chunked, body=chunks)) == 201
    for broken in (
        b"zz\r\n{}\r\n0\r\n\r\n",
        b"-1\r\n{}\r\n0\r\n\r\n",
        chunks[:-5] + b"0x0\r\n\r\n",
    ):
        assert raw.status_of(server, raw.posting(authorization, chunked, body=broken)) == 400
    assert trips_of(travellers[0]) == before + 1
    # A server that does not gather the chunks must not hand on an empty body.
    client, coming = environment.client(environment.olga), {"HTTP_TRANSFER_ENCODING": "chunked"}
    unsaid = client.generic("POST", "/api/trips", b"", "application/json", **coming)
    problem_of(unsaid, 411, "length_required")


def test_t117_old_pipelined_and_expecting_requests_are_answered_in_order(server, authorization):
    """T117: HTTP/1.0, pipelined and `Expect` requests are answered in order."""
    assert raw.status_of(server, raw.request("GET /api/health HTTP/1.0")) == 200
    first = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answers = raw.send(server, first + raw.request("GET /api/nothing HTTP/1.1"))
    assert [answer.status for answer in answers] == [200, 404]
    expecting = ("Expect: 100-continue", f"Content-Length: {len(raw.TRIP)}")
    answers = raw.send(server, raw.posting(authorization, *expecting))
    assert [answer.status for answer in answers] == [100, 201]


def test_t81_a_key_is_visible_ascii(server, authorization, travellers):
    """T81: A key consists of visible ASCII characters."""
    before = trips_of(travellers[0])
    length = f"Content-Length: {len(raw.TRIP)}"
    for key in ("", " ", "a" * 256, "a\x00b", "a b", "\xe9", "a\tb", "a\rb", "\x7f"):
        assert (
            raw.status_of(server, raw.posting(authorization, length, f"Idempotency-Key: {key}"))
            == 400
        )
    assert trips_of(travellers[0]) == before
    twice = raw.posting(authorization, length, "Idempotency-Key: a", "Idempotency-Key: b")
    assert raw.status_of(server, twice) == 400
    assert trips_of(travellers[0]) == before


def test_t124_no_value_splits_a_header(server, authorization):
    """T124: No value can inject a header."""
    for path in ("trips/%0d%0aX-Split:%20y", "trips/code/%0d%0aX-Split:y", "users/email/a%0aX:y"):
        [answer] = raw.send(server, raw.request(f"GET /api/{path} HTTP/1.1", authorization))
        assert answer.status == 404
        assert "x-split" not in answer.headers
    body = json.dumps(lisbon(title="a\r\nX-Split: y", destination="\r\nSet-Cookie: a=b")).encode()
    [made] = raw.send(server, raw.posting(authorization, f"Content-Length: {len(body)}", body=body))
    assert made.status == 201
    assert not {"x-split", "set-cookie"} & made.headers.keys()


# -- Unusual input --------------------------------------------------------------------------------


def test_t121_a_text_is_stored_as_it_is_or_refused_and_no_list_breaks(environment):
    """T121: A text is stored unchanged or rejected, and breaks no list."""
    for text in ("a\u202eb", "a\u200bb", "a\r\nb", "<script>", "\U0001f9f3" * 20, "e\u0301"):
        for path, name in (("", "title"), (f"/expenses/{environment.dinner.pk}", "notes")):
            changed = environment.ask(
                environment.olga, "PATCH", environment.url + path, {name: text}
            )
            assert (changed.status_code, changed.json()[name]) == (200, text)
    for user in (environment.olga, environment.ed, environment.vera, environment.ada):
        for url in ("/api/trips", *environment.reads()):
            assert environment.ask(user, "GET", url).status_code == 200


def test_t122_what_looks_like_code_is_text(environment):
    """T122: Text that looks like code is treated as text."""
    url = f"{environment.url}/expenses"
    for text in INJECTIONS:
        body = environment.expense_body(description=text, notes=text)
        made = environment.ask(environment.ed, "POST", url, body)
        assert (made.status_code, made.json()["notes"]) == (201, text.strip())
        for name in ("search", "category", "paidBy", "participant", "dateFrom", "ordering"):
            asked = environment.ask(environment.ed, "GET", f"{url}?{name}={quote(text, safe='')}")
            assert asked.status_code in {200, 400}
            if name == "search" and asked.status_code == 200:
                assert asked.json()["total"] == 1
        looked_up = environment.ask(
            environment.ed, "GET", f"/api/users/email/{quote(text, safe='')}"
        )
        assert looked_up.status_code == 404
    assert environment.trip.expenses.count() == 2 + len(INJECTIONS)


def test_t123_a_query_names_no_column(environment):
    """T123: Query parameters cannot name database columns."""
    ask, olga = environment.ask, environment.olga
    url = f"{environment.url}/expenses"
    plain = ask(olga, "GET", url).content
    lenient = {"HTTP_PREFER": "handling=lenient"}
    for query in (
        *("role__in=OWNER", "__class__=x", "paidBy__password=x", "trip=1", "id=1", "_connector=OR"),
        *("created_by__email__startswith=o", "payers__user__password__startswith=a"),
    ):
        ignored = ask(olga, "GET", f"{url}?{query}", **lenient)
        assert ignored.content == plain
    orders = ("password", "-paidBy__password", "created_by__password", "id", "?", "expense_date")
    for order in orders:
        assert ask(olga, "GET", f"{url}?ordering={quote(order)}").status_code == 400
    body = environment.expense_body(_connector="OR", paidBy__email="x", trip_id=environment.sams.pk)
    made = ask(olga, "POST", url, body, **lenient).json()
    assert made["tripId"] == environment.trip.pk
