"""Rows T105-T128: headers, origins, odd HTTP and odd input; nothing is open that is not meant."""

import json
import re
from io import StringIO
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings
from django.core.cache.backends.redis import RedisCache
from django.core.management import call_command
from django.test import Client

from tests.document import OPERATIONS, problem_of
from tests.factories import PASSWORD
from tests.hostile import World
from tests.logs import production_log
from tests.security import raw
from tests.security.stage import Stage, no_connections
from tests.server import Server
from tests.splits.journey import Traveller
from tests.trips.access import ROWS, endpoints, everything_stored
from tests.trips.bodies import lisbon
from tests.users.logins import is_alive, log_in, try_to_log_in
from trips.models import Trip
from users.models import User

ORIGIN = "http://localhost:4200"
JSON = "Content-Type: application/json"
TRIP = json.dumps(lisbon()).encode()
NO_ID = ("0", "-1", "1.0", "1e3", "1%20", "%EF%BC%91", "true", "me", "null", str(2**63), "9" * 400)
HELD_IDS = (str(2**31), str(2**63 - 1))
HOSTILE_TEXTS = ("%00", "%FF", "%ED%A0%80", "%0d%0aX:%20y", "..%2f..%2f", "%2e%2e", "%25%30%30")
INJECTIONS = (
    *("' or 1=1--", "1;select pg_sleep(5)", "%' || '", "{{7*7}}", "${7*7}", "<script>alert(1)"),
    *(
        "__class__",
        "$where",
        "../../etc/passwd",
        "\u202e\u200b",
        "\U0001f9f3",
        "a\r\nSet-Cookie: x",
    ),
)


@pytest.fixture
def world(api: Any, olga: User, ed: User, sam: User, trip: Trip) -> World:
    return World(api(olga), olga, ed, sam, trip)


@pytest.fixture
def authorization(travellers: list[Traveller]) -> str:
    return f"Authorization: {travellers[0].headers['Authorization']}"


def posting(authorization: str, *headers: str, body: bytes = TRIP) -> bytes:
    return raw.request("POST /api/trips HTTP/1.1", authorization, JSON, *headers, body=body)


def status_of(server: Server, request: bytes) -> int:
    return raw.send(server, request)[0].status


def trips_of(traveller: Traveller) -> int:
    return traveller.done("GET", "/trips")["total"]


# -- What leaves the service ----------------------------------------------------------------------


def test_t105_no_address_in_a_body_is_ever_opened(stage: Stage) -> None:
    refused = ("file:///etc/passwd", "javascript:alert(1)", "//x.example", "gopher://x", "data:,x")
    refused += ("\\\\x.example", "\\x.example", "/a b.webp", "java\x01script:alert(1)")
    stored = ("http://169.254.169.254/latest", "/images/paris.webp", "https://x.example/a.png")
    profile = f"/api/users/{stage.olga.pk}/profile"
    with no_connections():
        for url in (*refused, *stored):
            status = 400 if url in refused else 200
            for path, field in ((stage.url, "imageUrl"), (stage.dinner_url, "receiptUrl")):
                answer = stage.ask(stage.olga, "PATCH", path, {field: url})
                assert answer.status_code == status, url
                assert status == 400 or answer.json()[field] == url
            answer = stage.ask(stage.olga, "PUT", profile, {"profilePicture": url})
            assert answer.status_code == status


def test_t128_nothing_but_the_database_is_ever_called(world: World) -> None:
    with no_connections():
        for operation in OPERATIONS:
            for body in world.bodies.get(str(operation), [{}]):
                answer = world.send(operation, json.dumps(body).encode())
                assert answer.status_code < 500


# -- Other origins --------------------------------------------------------------------------------


def test_t106_other_origins_are_allowed_nothing(stage: Stage) -> None:
    for origin in (
        "https://evil.example",
        "null",
        f"{ORIGIN}.evil.example",
        "https://localhost:4200",
    ):
        answer = stage.ask(stage.olga, "GET", "/api/trips", HTTP_ORIGIN=origin)
        assert [name for name in answer.headers if "access-control" in name.lower()] == []
    answer = stage.ask(stage.olga, "GET", "/api/trips", HTTP_ORIGIN=ORIGIN)
    assert answer["Access-Control-Allow-Origin"] == ORIGIN
    assert "Access-Control-Allow-Credentials" not in answer
    assert "origin" in answer["Vary"].lower()


def test_t107_the_front_end_may_send_and_read_what_it_needs(stage: Stage, limits: Any) -> None:
    sent = {"authorization", "x-app-client", "content-type", "idempotency-key", "if-match"}
    preflight = Client().options(
        "/api/trips",
        headers={
            "Origin": ORIGIN,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": ", ".join(sorted(sent)),
        },
    )
    assert preflight.status_code in {200, 204}
    assert sent <= set(re.split(r",\s*", preflight["Access-Control-Allow-Headers"].lower()))
    read = {"etag", "location", "retry-after", "idempotency-replayed", "ratelimit", "x-request-id"}
    limits(lookup="1/hour")
    code = "/api/trips/code/AAAAAAAA"
    seen = set()
    for user, path in (
        *((None, "/api/trips"), (stage.olga, "/api/nothing"), (stage.olga, "/api/trips")),
        *((stage.olga, code), (stage.olga, code), (stage.sam, stage.url)),
    ):
        answer = stage.ask(user, "GET", path, HTTP_ORIGIN=ORIGIN)
        seen.add(answer.status_code)
        assert answer["Access-Control-Allow-Origin"] == ORIGIN
        exposed = set(re.split(r",\s*", answer["Access-Control-Expose-Headers"].lower()))
        assert read <= exposed
    assert seen == {200, 401, 404, 429}


def test_t108_a_foreign_host_is_refused_and_leads_nowhere(
    server: Server, authorization: str
) -> None:
    [evil] = raw.send(server, raw.request("GET /api/health HTTP/1.1", host="Host: evil.example"))
    assert evil.status == 400
    two = raw.request("GET /api/health HTTP/1.1", "Host: evil.example")
    assert status_of(server, two) == 400
    forwarded = ("X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "Forwarded: host=e")
    length = f"Content-Length: {len(TRIP)}"
    [made] = raw.send(server, posting(authorization, length, *forwarded))
    assert made.status == 201
    assert re.fullmatch(r"/api/trips/[0-9]+", made.headers["location"])
    assert b"evil" not in made.body


def test_t109_every_answer_protects_itself(
    world: World, server: Server, authorization: str
) -> None:
    asked = [world.client.get(path) for path in ("/", "/api/nothing", "/api/users/me")]
    asked += [world.client.get(world.url(op)) for op in OPERATIONS if op.method == "GET"]
    asked += [world.send(op, b"[]") for op in OPERATIONS if op.body]
    for answer in asked:
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
        assert answer["Cache-Control"] == "no-store"
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
        assert answer["X-Request-ID"]
    for path in ("/api/users/me", "/api/nothing", "/nothing"):
        [answer] = raw.send(server, raw.request(f"GET {path} HTTP/1.1", authorization))
        assert not re.search(r"[0-9]", answer.headers.get("server", ""))
        assert "x-powered-by" not in answer.headers


def test_t110_a_browser_sees_pages_that_run_nothing(stage: Stage) -> None:
    wild = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    assert stage.ask(stage.olga, "PATCH", stage.url, {"title": wild}).status_code == 200
    page = stage.ask(stage.olga, "GET", stage.url, HTTP_ACCEPT="text/html")
    assert page["Content-Type"].startswith("text/html")
    assert b"<script>alert(1)" not in page.content
    assert b"<img src=x" not in page.content
    problem_of(stage.ask(stage.olga, "GET", stage.url, HTTP_ACCEPT="application/xml"), 406)
    assert stage.ask(stage.olga, "GET", f"{stage.url}?format=json").json()["title"] == wild
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(stage.olga)
    written = browser.post("/api/trips", lisbon(), content_type="application/json")
    problem_of(written, 403, "csrf_failed")


def test_t111_options_needs_no_log_in_and_lists_no_fields(stage: Stage) -> None:
    for user in (None, stage.olga):
        answer = stage.ask(user, "OPTIONS", "/api/trips")
        assert answer.status_code in {401, 405}
        assert b"title" not in answer.content.replace(b'"title":"', b"")
    preflight = Client().options(
        "/api/trips", headers={"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    )
    assert (preflight.status_code, preflight.content) == (200, b"")


def test_t112_an_unknown_path_is_json_and_leads_nowhere(stage: Stage) -> None:
    for path in (
        *("/", "/api", "/api/", "/nothing", "//evil.example", "/api/..;/", "/api/trips/"),
        *("/api//trips", "/API/trips", "/api/trips;x", "/%2e%2e/", "/api/v1/trips"),
    ):
        for method in ("GET", "POST", "PUT", "DELETE"):
            answer = stage.ask(stage.olga, method, path, {} if method != "GET" else None)
            problem_of(answer, 404, "not_found")
            assert "Location" not in answer


def test_t125_nothing_secret_is_logged_and_an_event_is_a_line(stage: Stage) -> None:
    refresh_token = log_in(stage.ed)["refreshToken"]
    with production_log() as lines:
        body = {"email": "canary@example.com", "password": "canary-password"}
        for path in ("login", "register", "login"):
            stage.ask(None, "POST", f"/api/users/{path}", body)
        stage.ask(None, "POST", "/api/users/token/refresh", {"refreshToken": f"{refresh_token}x"})
        stage.ask(stage.ed, "GET", "/api/users/email/canary@example.com")
        stage.ask(
            stage.ed, "GET", "/api/trips?token=canary-query", HTTP_AUTHORIZATION="Bearer canary"
        )
        stage.ask(stage.ed, "GET", "/api/a%0aERROR%20forged", HTTP_USER_AGENT="a\nERROR forged")
        written = lines()
    assert written
    events = [json.loads(line) for line in written]
    assert not [event for event in events if event["message"].startswith("ERROR")]
    text = "\n".join(written)
    for secret in ("canary", refresh_token, refresh_token.split(".")[1], PASSWORD):
        assert secret not in text


def test_a_guard_whose_counter_is_away_lets_nobody_guess(
    olga: User, limits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis cannot be reached: who guesses is refused, who reads is not."""
    limits(login="10/min", user="10/min")
    token = log_in(olga)["token"]
    monkeypatch.setattr(settings, "CACHE_URL", "redis://127.0.0.1:1/0")
    broken = RedisCache("redis://127.0.0.1:1/0", {})
    monkeypatch.setattr("tripcompanion.kit.throttling.cache", broken)
    refused = try_to_log_in(olga.email)
    problem_of(refused, 503, "unavailable")
    assert int(refused["Retry-After"]) >= 1
    assert is_alive(token)


def test_t126_only_what_is_meant_is_served(stage: Stage) -> None:
    for path in (
        *("/metrics", "/.git/config", "/.env", "/static/../tripcompanion/settings.py", "/debug"),
        *("/static/%2e%2e/%2e%2e/.env", "/static//etc/passwd", "/server-status", "/api/admin"),
        *(
            "/actuator",
            "/__debug__/",
            "/openapi.yaml",
            "/db.sqlite3",
            "/manage.py",
            "/wp-login.php",
        ),
    ):
        problem_of(Client().get(path), 404, "not_found")
    for path in ("/api/health", "/api/health/ready"):
        assert Client().get(path).json() == {"status": "ok"}
    assert stage.ask(None, "GET", "/api/schema").status_code == 200


def test_t127_routes_document_and_matrix_are_the_same_set() -> None:
    served = {str(endpoint) for endpoint in endpoints()}
    assert served == {str(row) for row in ROWS}
    around = {name for name in served if re.search(r"/(schema|docs|session/\w+)$", name)}
    snake = re.compile(r"{(\w+)}")

    def camel(match: re.Match[str]) -> str:
        head, *rest = match[1].split("_")
        return "{" + head + "".join(map(str.capitalize, rest)) + "}"

    documented = {str(operation) for operation in OPERATIONS}
    assert documented == {snake.sub(camel, name) for name in served - around}


# -- Odd HTTP -------------------------------------------------------------------------------------


def test_t72_lower_case_methods_are_no_methods(server: Server, authorization: str) -> None:
    line = "{} /api/users/me HTTP/1.1"
    assert status_of(server, raw.request(line.format("get"), authorization)) == 400
    for method in ("TRACE", "FOO", "PROPFIND", "CONNECT"):
        [answer] = raw.send(server, raw.request(line.format(method), authorization))
        assert (answer.status, answer.headers["allow"]) == (405, "GET, DELETE, HEAD")
        assert authorization.encode() not in answer.body


def test_t115_a_length_that_can_be_read_in_two_ways_is_refused(
    server: Server, authorization: str, travellers: list[Traveller]
) -> None:
    before = trips_of(travellers[0])
    for headers in (
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Content-Length: 5", f"Content-Length: {len(TRIP)}"),
        ("Transfer-Encoding: xchunked",),
        ("Transfer-Encoding: chunked, identity",),
        ("Content-Length: -1",),
        ("Content-Length: 0x10",),
        ("Content-Length: 1e2",),
        ("Bad Name: x",),
    ):
        answers = raw.send(server, posting(authorization, *headers))
        assert [answer.status for answer in answers] in ([400], [501]), headers
        assert answers[0].headers["connection"] == "close"
    hidden = b"0\r\n\r\n" + raw.request("DELETE /api/users/me HTTP/1.1", authorization)
    both = ("Transfer-Encoding: chunked", f"Content-Length: {len(hidden)}")
    keep_alive = posting(authorization, *both, body=hidden).replace(
        b"Connection: close\r\n", b"", 1
    )
    assert [answer.status for answer in raw.send(server, keep_alive)] == [400]
    bare = raw.send(server, b"GET /api/health HTTP/1.1\nHost: localhost\n\n")
    assert [answer.status for answer in bare] in ([], [400])
    assert trips_of(travellers[0]) == before


def test_t116_a_body_in_chunks_is_read_whole_or_refused(
    server: Server, authorization: str, travellers: list[Traveller], stage: Stage
) -> None:
    before = trips_of(travellers[0])
    chunked = "Transfer-Encoding: chunked"
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(TRIP), TRIP)
    assert status_of(server, posting(authorization, chunked, body=chunks)) == 201
    for broken in (
        b"zz\r\n{}\r\n0\r\n\r\n",
        b"-1\r\n{}\r\n0\r\n\r\n",
        chunks[:-5] + b"0x0\r\n\r\n",
    ):
        assert status_of(server, posting(authorization, chunked, body=broken)) == 400
    assert trips_of(travellers[0]) == before + 1
    # A server that does not gather the chunks must not hand on an empty body.
    client, coming = stage.client(stage.olga), {"HTTP_TRANSFER_ENCODING": "chunked"}
    unsaid = client.generic("POST", "/api/trips", b"", "application/json", **coming)
    problem_of(unsaid, 411, "length_required")


def test_t117_old_pipelined_and_expecting_requests_are_answered_in_order(
    server: Server, authorization: str
) -> None:
    assert status_of(server, raw.request("GET /api/health HTTP/1.0")) == 200
    first = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answers = raw.send(server, first + raw.request("GET /api/nothing HTTP/1.1"))
    assert [answer.status for answer in answers] == [200, 404]
    expecting = ("Expect: 100-continue", f"Content-Length: {len(TRIP)}")
    answers = raw.send(server, posting(authorization, *expecting))
    assert [answer.status for answer in answers] == [100, 201]


def test_t81_a_key_is_visible_ascii(
    server: Server, authorization: str, travellers: list[Traveller]
) -> None:
    before = trips_of(travellers[0])
    length = f"Content-Length: {len(TRIP)}"
    for key in ("", " ", "a" * 256, "a\x00b", "a b", "\xe9", "a\tb", "a\rb", "\x7f"):
        assert status_of(server, posting(authorization, length, f"Idempotency-Key: {key}")) == 400
    assert trips_of(travellers[0]) == before
    twice = posting(authorization, length, "Idempotency-Key: a", "Idempotency-Key: b")
    assert status_of(server, twice) == 400
    assert trips_of(travellers[0]) == before


def test_t124_no_value_splits_a_header(server: Server, authorization: str) -> None:
    for path in ("trips/%0d%0aX-Split:%20y", "trips/code/%0d%0aX-Split:y", "users/email/a%0aX:y"):
        [answer] = raw.send(server, raw.request(f"GET /api/{path} HTTP/1.1", authorization))
        assert answer.status == 404
        assert "x-split" not in answer.headers
    body = json.dumps(lisbon(title="a\r\nX-Split: y", destination="\r\nSet-Cookie: a=b")).encode()
    [made] = raw.send(server, posting(authorization, f"Content-Length: {len(body)}", body=body))
    assert made.status == 201
    assert not {"x-split", "set-cookie"} & made.headers.keys()


# -- Odd input ------------------------------------------------------------------------------------


def test_t113_a_body_is_json_in_utf8(stage: Stage) -> None:
    client, before = stage.client(stage.olga), everything_stored()
    for kind in (
        *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
        *("application/xml", "application/json;charset=utf-7", "application/json; charset=utf-16"),
        *("application/jsonp", "text/json", "*/*"),
    ):
        answer = client.generic("POST", "/api/trips", TRIP, kind)
        problem_of(answer, 415, "unsupported_media_type")
    assert everything_stored() == before


def test_t114_a_body_is_one_strict_object(stage: Stage) -> None:
    client, before = stage.client(stage.olga), everything_stored()
    for body in (
        *(b"null", b"[]", b'"x"', b"1", b"\xef\xbb\xbf{}", b'{"title": "\xff"}', b"{", b"{'a': 1}"),
        *(TRIP[:-1] + b', "title": "twice"}', b'{"budget": NaN}', TRIP + TRIP, b"\x00{}"),
        TRIP.decode().encode("utf-16"),
    ):
        answer = client.generic("POST", "/api/trips", body, "application/json")
        problem_of(answer, 400, "malformed_json")
    problem_of(client.generic("POST", "/api/trips", b"", "application/json"), 400)
    assert everything_stored() == before


def test_t118_odd_bytes_in_paths_and_queries_break_nothing(world: World) -> None:
    for operation in OPERATIONS:
        for parameter in operation.parameters("path"):
            for text in HOSTILE_TEXTS:
                url = world.url(operation, **{parameter["name"]: text})
                answer = world.client.generic(operation.method, url, b"{}", "application/json")
                problem_of(answer, 404, "not_found")
        for parameter in operation.parameters("query"):
            for text in HOSTILE_TEXTS:
                url = f"{world.url(operation)}?{parameter['name']}={text}"
                assert world.client.get(url).status_code in {200, 400}, url


def test_t119_a_path_id_is_a_plain_64_bit_number(world: World) -> None:
    for operation in OPERATIONS:
        for parameter in operation.parameters("path"):
            if parameter["schema"]["type"] != "integer":
                continue
            other_spelling = f"0{world.ids_at(operation.path)[parameter['name']]}"
            for text in (*NO_ID, other_spelling, str(2**31), str(2**63 - 1)):
                if text == "me" and operation.path == "/api/users/{userId}":
                    continue
                url = world.url(operation, **{parameter["name"]: text})
                answer = world.client.generic(operation.method, url, b"{}", "application/json")
                # What is for oneself is 403 whether or not the account exists.
                assert answer.status_code in {400, 403 if text in HELD_IDS else 404, 404}, url
                assert "Location" not in answer


def test_t120_a_body_id_is_a_whole_number(stage: Stage) -> None:
    client, before = stage.client(stage.olga), everything_stored()
    for literal in (
        *(str(2**63), "-1", "1.5", "true", "1e400", "[1]", '{"id":1}', '"\\u0000"', '"1.0"', "0"),
        *("1e0", '"１"', '""', '" 1"'),
    ):
        for path, name in (("/members", "userId"), ("/expenses", "paidByUserId")):
            body = json.dumps(stage.expense_body(**{name: "HERE"})).replace('"HERE"', literal)
            answer = client.generic("POST", stage.url + path, body, "application/json")
            assert answer.status_code == 400, literal
    assert everything_stored() == before
    as_text = stage.expense_body(paidByUserId=str(stage.olga.pk))
    assert stage.ask(stage.olga, "POST", f"{stage.url}/expenses", as_text).status_code == 201


def test_t121_a_text_is_stored_as_it_is_or_refused_and_no_list_breaks(stage: Stage) -> None:
    client = stage.client(stage.olga)
    for literal in ('"a\\u0000b"', '"\\ud800"', '"\\udfff\\ud800"'):
        for path, name in (("", "title"), (f"/expenses/{stage.dinner.pk}", "notes")):
            raw_body = f'{{"{name}": {literal}}}'
            answer = client.generic("PATCH", stage.url + path, raw_body, "application/json")
            assert answer.status_code == 400
    for text in ("a\u202eb", "a\u200bb", "a\r\nb", "<script>", "\U0001f9f3" * 20, "e\u0301"):
        for path, name in (("", "title"), (f"/expenses/{stage.dinner.pk}", "notes")):
            changed = stage.ask(stage.olga, "PATCH", stage.url + path, {name: text})
            assert (changed.status_code, changed.json()[name]) == (200, text)
    for user in (stage.olga, stage.ed, stage.vera, stage.ada):
        for url in ("/api/trips", *stage.reads()):
            assert stage.ask(user, "GET", url).status_code == 200


def test_t122_what_looks_like_code_is_text(stage: Stage) -> None:
    url = f"{stage.url}/expenses"
    for text in INJECTIONS:
        body = stage.expense_body(description=text, notes=text)
        made = stage.ask(stage.ed, "POST", url, body)
        assert (made.status_code, made.json()["notes"]) == (201, text.strip())
        for name in ("search", "category", "paidBy", "participant", "dateFrom", "ordering"):
            asked = stage.ask(stage.ed, "GET", f"{url}?{name}={quote(text, safe='')}")
            assert asked.status_code in {200, 400}
            if name == "search" and asked.status_code == 200:
                assert asked.json()["total"] == 1
        looked_up = stage.ask(stage.ed, "GET", f"/api/users/email/{quote(text, safe='')}")
        assert looked_up.status_code == 404
    assert stage.trip.expenses.count() == 2 + len(INJECTIONS)


def test_t123_a_query_names_no_column(stage: Stage) -> None:
    url = f"{stage.url}/expenses"
    plain = stage.ask(stage.olga, "GET", url).content
    for query in (
        *("role__in=OWNER", "__class__=x", "paidBy__password=x", "trip=1", "id=1", "_connector=OR"),
        *("created_by__email__startswith=o", "payers__user__password__startswith=a"),
    ):
        assert stage.ask(stage.olga, "GET", f"{url}?{query}").content == plain
    for order in (
        "password",
        "-paidBy__password",
        "created_by__password",
        "id",
        "?",
        "expense_date",
    ):
        assert stage.ask(stage.olga, "GET", f"{url}?ordering={quote(order)}").status_code == 400
    body = stage.expense_body(_connector="OR", paidBy__email="x", trip_id=stage.sams.pk)
    assert stage.ask(stage.olga, "POST", url, body).json()["tripId"] == stage.trip.pk


def test_settings_that_carry_the_promises() -> None:
    deployed = StringIO()
    assert settings.X_FRAME_OPTIONS == "DENY"
    assert settings.SECURE_HSTS_SECONDS >= 365 * 24 * 3600
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        assert "synchronous=FULL" in settings.DATABASES["default"]["OPTIONS"]["init_command"]
    call_command("check", stdout=deployed)
    assert "no issues" in deployed.getvalue()
