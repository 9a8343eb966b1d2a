"""A database that accepts and never answers: 503 in a bounded time, and the probe stays alive."""

import time
from contextlib import contextmanager

import httpx
import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import override_settings

from tests.document import problem_of
from tests.server import running_server
from tests.silence import silent_proxy
from tests.splits.journey import Journey, sign_up

pytestmark = [pytest.mark.slow, pytest.mark.postgresql]
TIMEOUT_SECONDS = 1
#: One wait for an answer and one for a cancellation, without another one of 3 for a new
#: connection; and a slow machine.
ONE_WAIT_SECONDS = TIMEOUT_SECONDS + 1 + 1 + 2.5
#: One wait of TIMEOUT_SECONDS + 1 or, for a new connection, of 3; and a slow machine.
LIMIT_SECONDS = 3 + 3


@pytest.fixture(scope="module")
def proxied():
    """One process with one thread, so that every request meets the same connection."""
    with silent_proxy(settings.DATABASE_URL) as (proxy, url), override_settings(DATABASE_URL=url):
        one = {"WEB_CONCURRENCY": "1", "DATABASE_POOL_SIZE": "1", "DEBUG": "false"}
        with running_server(DATABASE_TIMEOUT=str(TIMEOUT_SECONDS), **one) as server:
            yield proxy, server


@pytest.fixture
def proxy(proxied):
    yield proxied[0]
    proxied[0].talk()


@pytest.fixture
def journey(proxy, proxied):
    with httpx.Client(base_url=proxied[1].url, timeout=30, trust_env=False) as http:
        yield Journey.start(sign_up(http))


@contextmanager
def soon(limit_seconds=LIMIT_SECONDS):
    started = time.monotonic()
    yield
    assert time.monotonic() - started < limit_seconds


def refused(answer, limit_seconds=LIMIT_SECONDS, code="unavailable"):
    with soon(limit_seconds):
        response = answer()
    assert problem_of(response, 503, code)
    assert response.headers["Retry-After"] == "2"


@pytest.mark.slow
def test_old_and_new_connections_are_given_up(proxy, journey):
    owner = journey.owner
    proxy.silent = True
    # The first meets the open connection, the second has to connect.
    for _time in range(2):
        refused(lambda: owner.call("GET", journey.path))
        assert owner.http.get("/api/health").status_code == 200
    refused(lambda: owner.http.get("/api/health/ready"))
    proxy.talk()
    assert owner.call("GET", journey.path).status_code == 200


@pytest.mark.parametrize(
    "trigger",
    [b"ISOLATION LEVEL", b"splits_payer", b"COMMIT"],
    ids=["at BEGIN", "in a statement", "at COMMIT"],
)
def test_a_read_ends_wherever_the_silence_begins(proxy, journey, trigger):
    journey.spend(30, journey.owner)
    path = f"{journey.path}/expenses"
    proxy.trigger = trigger
    # A statement that is prepared is sent by its name alone, so it is a filtered list.
    refused(lambda: journey.owner.call("GET", f"{path}?ordering=amount"))
    proxy.talk()
    (expense,) = journey.owner.done("GET", path)["items"]
    assert expense["amount"] == 30


@pytest.mark.parametrize("trigger", [b"BEGIN", b"UPDATE", b"COMMIT"])
def test_a_write_ends_wherever_the_silence_begins(proxy, journey, trigger):
    before = journey.owner.done("GET", journey.path)["title"]
    proxy.trigger = trigger
    change, code = {"title": "Porto"}, "unavailable"
    if trigger == b"COMMIT":
        code = "outcome_unknown"
    refused(lambda: journey.owner.call("PATCH", journey.path, change), ONE_WAIT_SECONDS, code)
    proxy.talk()
    assert journey.owner.done("GET", journey.path)["title"] in {before, "Porto"}


def test_a_refused_write_ends_when_the_silence_begins_at_rollback(proxy, journey):
    proxy.trigger = b"ROLLBACK"
    strangers = {"paidByUserId": 10**15}
    body = journey.expense_body(30, journey.owner, **strangers)
    # The answer is that of the refusal, or a 503 for the rollback that was not answered.
    with soon():
        response = journey.owner.call("POST", f"{journey.path}/expenses", body)
    assert response.status_code in {400, 503}
    proxy.talk()
    assert journey.rows("expenses") == []


def test_pages_for_browsers_are_given_up_as_well(proxy, journey):
    proxy.silent = True
    cookie = {"Cookie": f"sessionid={'a' * 32}"}
    refused(lambda: journey.owner.http.get("/admin/", headers=cookie))


def test_an_answer_that_comes_too_late_is_nobody_elses(proxy, journey):
    """The connection whose answer was not waited for is closed, and another one is opened."""
    other = Journey.start(journey.owner)
    for path in (journey.path, other.path):
        journey.owner.done("GET", path)
    proxy.silent = True
    refused(lambda: journey.owner.call("GET", journey.path))
    proxy.talk()
    for _time in range(3):
        assert journey.owner.done("GET", other.path)["id"] == other.id
        assert journey.owner.done("GET", journey.path)["id"] == journey.id


# -- The connection itself ----------------------------------------------------------------------


@contextmanager
def impatient(url, wait_seconds):
    parts = psycopg.conninfo.conninfo_to_dict(url)
    own = connection.copy()
    own.settings_dict["HOST"], own.settings_dict["PORT"] = str(parts["host"]), parts["port"]
    own.settings_dict["OPTIONS"] |= {"wait_seconds": wait_seconds, "sslmode": "disable"}
    try:
        yield own
    finally:
        own.close()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "cursor",
    [lambda own: own.cursor(), lambda own: own.chunked_cursor(), lambda own: own.prepared_cursor()],
    ids=["ordinary", "chunked", "kept"],
)
def test_no_cursor_waits_longer_than_it_may(cursor):
    with silent_proxy(settings.DATABASE_URL) as (proxy, url), impatient(url, 1) as own:
        own.ensure_connection()
        first = own.connection
        own.set_autocommit(False)
        proxy.silent = True
        with soon(), pytest.raises(OperationalError), cursor(own) as asked:
            asked.execute("SELECT %s::int", [1])
        assert first.closed
        proxy.talk()
        own.close()
        with own.cursor() as asked:
            asked.execute("SELECT 2")
            assert asked.fetchone() == (2,)


@pytest.mark.django_db
def test_without_a_limit_a_statement_may_take_as_long_as_it_likes():
    with silent_proxy(settings.DATABASE_URL) as (_proxy, url), impatient(url, None) as own:
        own.ensure_connection()
        assert own.connection.wait_seconds is None
        assert own.connection.execute("SELECT 1 FROM pg_sleep(2)").fetchone() == (1,)
