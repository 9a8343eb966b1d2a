"""What Prometheus reads: the counts of all processes, closed to everybody else, without ids."""

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import psycopg
import pytest

from plugins.metrics.tests.scrape import HEADERS, TOKEN, measured_server, samples, total
from tests.document import problem_of
from tests.locks import OtherProcess, answer_after
from tests.server import ROOT, running_server
from tests.silence import silent_proxy
from tests.splits.journey import Journey, fresh_email, register, sign_up
from tests.test_probes import written_by_nobody

REQUESTS = 40
TRIPS = "/api/trips"
WAITING = 8
#: A bound for a busy machine. A scrape that waits for a connection waits for seconds.
AT_ONCE_SECONDS = 1.9
#: The database is silent; connecting takes at most three seconds and each answer one.
LIMIT_SECONDS = 8


@pytest.fixture(scope="module")
def server():
    with measured_server() as running:
        yield running


@pytest.fixture
def http(server):
    with httpx.Client(base_url=server.url, timeout=20) as client:
        yield client


def counting_files(server):
    """The files of counts of all processes that ever counted."""
    return [
        file
        for folder in (Path("/dev/shm"), Path("/tmp"))  # noqa: S108 -- where the server makes them
        for file in folder.glob(f"tripcompanion-metrics-{server.pid}-*/counter_*.db")
    ]


def wait_until(is_so):
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_counts_of_all_processes_add_up(server):
    before = total(server, "http_requests_total", route=TRIPS, status="401")
    with ThreadPoolExecutor(WAITING) as pool:
        # A new connection each time: any of the processes may get it.
        list(pool.map(lambda _at: httpx.get(server.url + TRIPS, timeout=20), range(REQUESTS)))
    serving = [file for file in counting_files(server) if TRIPS.encode() in file.read_bytes()]
    assert len(serving) == 2
    assert total(server, "http_requests_total", route=TRIPS, status="401") == before + REQUESTS
    assert total(server, "problems_total", code="not_authenticated") >= REQUESTS
    timed = total(server, "http_request_duration_seconds_count", route=TRIPS, method="GET")
    assert timed == before + REQUESTS


@pytest.mark.slow
def test_a_killed_process_loses_no_count_and_leaves_nothing_in_progress():
    with (
        measured_server() as server,
        ThreadPoolExecutor(1) as pool,
        httpx.Client(base_url=server.url, timeout=20) as http,
    ):
        for _time in range(REQUESTS):
            httpx.get(server.url + TRIPS)
        before = server.workers()
        with written_by_nobody(server):
            waiting = pool.submit(register, http, fresh_email())
            wait_until(lambda: total(server, "http_requests_in_progress") == 1)
            for worker in before:
                os.kill(int(worker.name), signal.SIGKILL)
            wait_until(lambda: len({*server.workers()} - {*before}) == len(before))
            assert total(server, "http_requests_in_progress") == 0
        with pytest.raises(httpx.TransportError):
            waiting.result()
        httpx.get(server.url + TRIPS, timeout=20)
        assert total(server, "http_requests_total", route=TRIPS) == REQUESTS + 1
        folders = {file.parent for file in counting_files(server)}
    assert folders
    assert not [folder for folder in folders if folder.exists()]


@pytest.mark.slow
@pytest.mark.once
def test_a_reload_keeps_the_counts_and_a_server_removes_what_a_killed_one_left():
    with measured_server() as killed:
        (folder,) = {file.parent for file in counting_files(killed)}
        os.kill(killed.pid, signal.SIGKILL)
    assert folder.exists()
    with measured_server() as server:
        assert not folder.exists()
        httpx.get(server.url + TRIPS)
        before = server.workers()
        os.kill(server.pid, signal.SIGHUP)
        wait_until(lambda: not {*server.workers()} & {*before})
        assert total(server, "http_requests_total", route=TRIPS) == 1


@pytest.mark.once
@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN],
    ids=["none", "empty", "no token", "shorter", "longer", "Basic", "no scheme"],
)
def test_only_the_token_opens_it(http, given):
    """T170: `/metrics` is open to its token only."""
    headers = {} if given is None else {"Authorization": given}
    for method in ("GET", "HEAD", "POST"):
        response = http.request(method, "/metrics", headers=headers)
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"
    response = http.get("/metrics", headers=headers)
    assert problem_of(response, 401)["code"] == "not_authenticated"
    assert "tripcompanion_" not in response.text


@pytest.mark.once
def test_the_token_opens_it_for_reading(http):
    response = http.get("/metrics", headers=HEADERS)
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    assert response.headers["Cache-Control"] == "no-store"
    head = http.head("/metrics", headers=HEADERS)
    assert (head.status_code, head.content) == (200, b"")
    for method in ("POST", "PUT", "DELETE"):
        refused = http.request(method, "/metrics", headers=HEADERS)
        assert problem_of(refused, 405)["code"] == "method_not_allowed"
        assert refused.headers["Allow"] == "GET, HEAD"


@pytest.mark.once
def test_without_a_token_there_is_no_such_path():
    with running_server() as server:
        answers = [httpx.get(f"{server.url}/{name}") for name in ("metrics", "nothing")]
        first, second = (problem_of(answer, 404) for answer in answers)
        assert {**first, "requestId": ""} == {**second, "requestId": ""}
        assert not counting_files(server)


@pytest.mark.slow
@pytest.mark.once
def test_without_a_token_the_library_is_not_in_memory():
    code = "import tripcompanion.serving.wsgi, tripcompanion.urls, sys; print(*sys.modules)"
    for token in ("", TOKEN):
        shown = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | {"METRICS_TOKEN": token},
            check=True,
            capture_output=True,
            text=True,
        )
        assert ("prometheus_client" in shown.stdout) is bool(token)


def test_labels_contain_no_id_and_nothing_that_a_client_chose(server, http):
    journey = Journey.start(sign_up(http))
    expense = journey.spend(12, journey.owner)
    journey.owner.done("GET", f"{journey.path}/expenses/{expense['id']}")
    email = fresh_email()
    journey.owner.call("GET", f"/users/email/{email}")
    for number in range(20):
        http.get(f"/canary-{number}", headers={"X-Request-ID": f"canary-{number}"})
        http.get(f"/static/canary-{number}")
        http.get(f"/admin/canary-{number}/")
        http.get(f"/api/trips/code/canary-{number}")
        http.request(f"CANARY{number}", TRIPS)
        http.get("/api/trips/%00canary")
    http.get("/api/trips", headers={"X-App-Client": "MapMyJourney canary"})
    found = samples(server)
    values = {value for sample in found for value in sample.labels.values()}
    assert not [value for value in values if "canary" in value.lower() or "@" in value]
    routes = {sample.labels["route"] for sample in found if "route" in sample.labels}
    # `<id:trip_id>` is a pattern; numbers would be ids.
    assert not [route for route in routes if re.search(r"[0-9]", route)]
    assert {"other", TRIPS, "/api/trips/<id:trip_id>/expenses/<id:expense_id>"} <= routes
    methods = {sample.labels["method"] for sample in found if "method" in sample.labels}
    assert "other" in methods
    assert methods <= {"GET", "POST", "other"}


def test_a_wait_for_a_trip_and_for_the_database_is_measured(server, http):
    journey = Journey.start(sign_up(http))
    body = journey.expense_body(12, journey.owner)
    path = f"{journey.path}/expenses"
    key = {"Idempotency-Key": "metrics-1"}
    before = {name: total(server, f"trip_lock_wait_seconds_{name}") for name in ("sum", "count")}
    response, _nothing = answer_after(
        server, "trips_trip", journey.id, lambda: journey.owner.call("POST", path, body, **key)
    )
    assert response.status_code == 201
    assert total(server, "trip_lock_wait_seconds_count") == before["count"] + 1
    route = "/api/trips/<id:trip_id>/expenses"
    if server.environment["DATABASE_URL"].startswith("postgres"):
        assert total(server, "trip_lock_wait_seconds_sum") > before["sum"] + 0.005
        assert total(server, "http_request_database_seconds_sum", route=route) > 0.005
    replays = total(server, "idempotent_replays_total")
    assert journey.owner.call("POST", path, body, **key).headers["Idempotency-Replayed"] == "true"
    assert total(server, "idempotent_replays_total") == replays + 1


@pytest.mark.slow
def test_a_busy_server_is_measured_at_once():
    few = {"WEB_CONCURRENCY": "1", "DATABASE_POOL_SIZE": "2"}
    with (
        measured_server(**few) as server,
        ThreadPoolExecutor(WAITING) as pool,
        httpx.Client(base_url=server.url, timeout=60) as http,
    ):
        with written_by_nobody(server):
            waiting = [pool.submit(register, http, fresh_email()) for _one in range(WAITING)]
            time.sleep(1)
            started = time.monotonic()
            in_progress = total(server, "http_requests_in_progress")
            assert time.monotonic() - started < AT_ONCE_SECONDS
            assert not any(one.done() for one in waiting)
        assert in_progress == WAITING
        assert {one.result().status_code for one in waiting} <= {201, 503}
        assert total(server, "connection_wait_seconds_sum") > 1


@pytest.mark.once
def test_throttled_requests_are_counted_by_their_limit():
    with (
        measured_server(THROTTLE_REGISTER="2/day") as server,
        httpx.Client(base_url=server.url) as http,
    ):
        for _time in range(5):
            register(http, fresh_email())
        assert total(server, "throttled_requests_total", scope="register") == 3
        assert total(server, "problems_total", code="throttled") == 3


@pytest.mark.slow
def test_outbox_and_audit_come_from_the_database(server, http):
    sign_up(http)
    assert total(server, "database_up") == 1
    assert total(server, "last_audit_timestamp_seconds") == 0
    before = total(server, "outbox_mails", state="waiting")
    with closing(OtherProcess(server)) as other:
        other.run("UPDATE users_mail SET created_at = '2026-01-01 00:00:00+00:00'")
    http.post("/api/users/password-reset", json={"email": fresh_email()})
    assert total(server, "outbox_mails", state="waiting") == before + 1
    assert (total(server, "outbox_oldest_mail_age_seconds") > 24 * 3600) is bool(before)
    server.manage("audit_ledger")
    assert total(server, "last_audit_differences") == 0
    assert time.time() - total(server, "last_audit_timestamp_seconds") < 60


@pytest.mark.slow
def test_a_missing_database_is_said_and_nothing_else_is_missing():
    with measured_server() as server:
        httpx.get(server.url + TRIPS)
        url = server.environment["DATABASE_URL"]
        if url.startswith("sqlite"):
            Path(url.removeprefix("sqlite:///")).unlink()
        else:
            name = url.rpartition("/")[2]
            with psycopg.connect(url.replace(name, "postgres"), autocommit=True) as admin:
                admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        found = {sample.name: sample.value for sample in samples(server)}
        assert found["tripcompanion_database_up"] == 0
        assert "tripcompanion_outbox_mails" not in found
        assert found["tripcompanion_http_requests_total"] > 0


@pytest.mark.slow
def test_a_database_that_is_not_migrated_counts_as_missing(server):
    url = server.environment["DATABASE_URL"]
    if url.startswith("sqlite"):
        pytest.skip("It reports a missing table like a missing database")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("ALTER TABLE users_mail RENAME TO users_mail_later")
        try:
            assert total(server, "database_up") == 0
        finally:
            admin.execute("ALTER TABLE users_mail_later RENAME TO users_mail")
    assert total(server, "database_up") == 1


@pytest.mark.slow
def test_a_silent_database_delays_the_figures_for_seconds_only(server):
    url = server.environment["DATABASE_URL"]
    if url.startswith("sqlite"):
        pytest.skip("SQLite has no connection")
    with silent_proxy(url) as (proxy, proxied), measured_server(DATABASE_URL=proxied) as silenced:
        assert total(silenced, "database_up") == 1
        for trigger in (b"SELECT COUNT", b""):
            proxy.trigger, proxy.silent = trigger, not trigger
            started = time.monotonic()
            assert total(silenced, "database_up") == 0
            assert time.monotonic() - started < LIMIT_SECONDS
            proxy.talk()
        assert total(silenced, "database_up") == 1
