"""A slow statement is logged with its route and its placeholders, but without values."""

import json

import httpx
import pytest
from django.conf import settings as given_settings
from django.db import OperationalError, connection

from plugins.slow_statements.timing import MAX_CHARS, log_slow_statements
from tests.compiled_only import compiled_only
from tests.locks import answer_after
from tests.logs import production_log
from tests.server import running_server
from tests.splits.journey import Journey, sign_up
from tripcompanion.compiled import fetch_all
from tripcompanion.database.postgresql.cursors import PreparingCursor

IS_POSTGRESQL = given_settings.DATABASE_URL.startswith("postgres")
MEMBERS_ROUTE = "/api/trips/<id:trip_id>/members"


@pytest.fixture
def statements(db, settings):
    """The lines of statements, all of which are slow."""
    settings.SLOW_STATEMENT_MS = 0
    wrappers = list(connection.execute_wrappers)
    # As at the start of a connection, and once more, as after a reconnection.
    log_slow_statements(connection)
    log_slow_statements(connection)
    assert len(connection.execute_wrappers) == len(wrappers) + 1
    with production_log() as log:
        yield lambda: [json.loads(line) for line in log() if "tripcompanion.statements" in line]
    connection.execute_wrappers[:] = wrappers


def test_every_kind_of_statement_is_logged_with_its_route(api, olga, vera, trip, statements):
    client = api(olga)
    before = len(statements())
    client.get(f"/api/trips/{trip.pk}/members")
    client.put(f"/api/trips/{trip.pk}/members/{vera.pk}/role", {"role": "EDITOR"})
    lines = statements()[before:]
    reads = [line for line in lines if line["route"] == MEMBERS_ROUTE]
    writes = [line for line in lines if line["route"] == f"{MEMBERS_ROUTE}/<id:user_id>/role"]
    assert any('FROM "trips_member"' in line["message"] for line in reads)
    assert any('UPDATE "trips_member"' in line["message"] for line in writes)
    assert all(line["level"] == "WARNING" and line["duration_ms"] >= 0 for line in lines)
    assert all(f"for a statement of {line['route']}: " in line["message"] for line in lines)


def test_no_line_contains_a_value(api, olga, trip, statements):
    client = api(olga)
    trip_body = {"title": "Canary", "destination": "Canary", "currency": "EUR"}
    dates = {"startDate": "2026-05-14", "endDate": "2026-05-18"}
    assert client.post("/api/trips", trip_body | dates).status_code == 201
    client.get("/api/users/email/canary%40example.com")
    api(None).post("/api/users/login", {"email": "canary@example.com", "password": "canary-pass"})
    lines = statements()
    assert any("INSERT INTO" in line["message"] for line in lines)
    text = json.dumps(lines).lower()
    for value in ("canary", "e-mail]", "token]", "hidden]", "2026-05-1", olga.name.lower()):
        assert value not in text


@compiled_only
@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite prepares nothing")
def test_compiled_statements_stay_prepared(statements):
    kinds = []

    def note(execute, sql, params, many, context):
        kinds.append(type(context["cursor"]))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        assert fetch_all("SELECT %s::int + 1", [41]) == [(42,)]
    [kind] = kinds
    assert issubclass(kind, PreparingCursor)
    assert ("SELECT $1::int + 1",) in fetch_all("SELECT statement FROM pg_prepared_statements", [])
    assert [line["message"].partition(": ")[2] for line in statements()] == [
        "SELECT %s::int + 1",
        "SELECT statement FROM pg_prepared_statements",
    ]


def test_a_long_statement_is_cut_and_a_fast_one_is_not_logged(statements, settings):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 WHERE 1 IN (%s{', %s' * MAX_CHARS})", [1] * (MAX_CHARS + 1))
        (line,) = statements()
        assert len(line["message"]) < MAX_CHARS + 100
        settings.SLOW_STATEMENT_MS = 60_000
        cursor.execute("SELECT 1")
    assert len(statements()) == 1


@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has no time-outs for statements")
def test_a_statement_that_failed_is_logged_too(statements):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '50ms'")
        with pytest.raises(OperationalError):
            cursor.execute("SELECT pg_sleep(%s)", [5])
    assert statements()[-1]["duration_ms"] >= 50
    connection.needs_rollback = True


@pytest.mark.slow
def test_the_server_logs_what_waited_for_a_lock(capfd):
    with (
        running_server(SLOW_STATEMENT_MS="1", LOG_FORMAT="json") as server,
        httpx.Client(base_url=server.url, timeout=20) as http,
    ):
        journey = Journey.start(sign_up(http))
        body = journey.expense_body(12, journey.owner)
        capfd.readouterr()
        response, _nothing = answer_after(
            server,
            "trips_trip",
            journey.id,
            lambda: journey.owner.call("POST", f"{journey.path}/expenses", body),
        )
        assert response.status_code == 201
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    slow = [line for line in lines if line["logger"] == "tripcompanion.statements"]
    assert {line["route"] for line in slow} == {"/api/trips/<id:trip_id>/expenses"}
    assert any(("FOR UPDATE" if IS_POSTGRESQL else "BEGIN") in line["message"] for line in slow)
