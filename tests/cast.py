"""Fixtures, and the cast: Olga owns, Ed edits, Vera views, Sam is a stranger, Ada is admin."""

import gc
import os
import re
import sqlite3
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import certifi
import httpx
import pytest
import time_machine
from django.conf import settings
from django.core.cache import cache
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpResponse
from django.test import Client, override_settings
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from rest_framework.settings import api_settings
from rest_framework.test import APIClient

from tests import citus
from tests.checkout import checked_out
from tests.document import require_documented
from tests.factories import UserFactory, join, owned_trip
from tests.hostile import World
from tests.migrated import migrated_database
from tests.programs import NEEDS, require
from tests.server import Server, running_server
from tests.splits.journey import Traveller, sign_up
from tests.stored import filled
from tests.walked import answers
from tripcompanion.api import throttling
from trips.models import Trip
from trips.roles import TripRole
from users.models import Role, Session, User
from users.passwords import SmallServerArgon2
from users.tokens import token_pair

#: No test depends on how fast the machine is, and tests with a database clean up after themselves.
#: The second profile is the one of `make soak`.
_UNCHECKED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
PATIENT: Any = {"deadline": None, "suppress_health_check": _UNCHECKED}
hypothesis_settings.register_profile("patient", **PATIENT)
hypothesis_settings.register_profile("soak", max_examples=30, stateful_step_count=60, **PATIENT)
hypothesis_settings.load_profile("patient")

#: What a password costs in production.
HASH_COSTS = {
    name: getattr(SmallServerArgon2, name) for name in ("memory_cost", "time_cost", "parallelism")
}

Api = Callable[[User | None], APIClient]

gc.set_threshold(20_000, 20, 50)


#: What a test with `limits` has left of a window at least; none takes as long.
SECONDS_IN_A_WINDOW = 5
#: What `--short` runs on SQLite besides what is marked `once` or `either`: the ledger.
ON_BOTH = "tests/splits/"
#: The fixtures of tests that start processes, which takes them seconds.
STARTING = {"server", "http", "project", "checkout", "served", "tab"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--short",
        action="store_true",
        help="without what is marked `slow`; what is marked `either` on SQLite, the ledger on both",
    )
    parser.addoption(
        "--in-process",
        action="store_true",
        help="without what is marked `slow`, needs a program, or starts servers and commands",
    )
    parser.addoption(
        "--after-test",
        action="store_true",
        help="on SQLite only what `make test` may have skipped, because it needs a program",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what is marked `once` or `postgresql` on the other database; see the options."""
    if config.getoption("short"):
        _keep(_is_in_short_run, config, items)
    if config.getoption("in_process"):
        _keep(_is_in_process, config, items)
    if config.getoption("after_test") and connection.vendor == "sqlite":
        _keep(_needs_a_program, config, items)
    of_the_other = "postgresql" if connection.vendor == "sqlite" else "once"
    for item in items:
        if item.get_closest_marker(of_the_other):
            item.add_marker(pytest.mark.skip(reason=f"It is marked `{of_the_other}`."))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what a short run leaves out as a whole."""
    if not config.getoption("short") or not collection_path.match("test_*.py"):
        return None
    text = collection_path.read_text()
    if config.getoption("after_test") and connection.vendor == "sqlite" and not NEEDS.search(text):
        return True
    if connection.vendor != "sqlite":
        return re.search(r"^pytestmark = .*mark\.(once|either)\b", text, re.MULTILINE) and True
    is_asked = "mark.once" in text or "mark.either" in text
    return (not is_asked and ON_BOTH not in collection_path.as_posix()) or None


def pytest_collection_finish() -> None:
    """What is collected is large and stays: it is not read by the collector again and again."""
    gc.freeze()


def _keep(
    is_kept: Callable[[pytest.Item], bool], config: pytest.Config, items: list[pytest.Item]
) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not is_kept(item)])
    items[:] = filter(is_kept, items)


def _needs_a_program(item: pytest.Item) -> bool:
    return item.get_closest_marker("needs") is not None


def _is_in_process(item: pytest.Item) -> bool:
    if item.get_closest_marker("slow") or _needs_a_program(item):
        return False
    return STARTING.isdisjoint(getattr(item, "fixturenames", ()))


def _is_in_short_run(item: pytest.Item) -> bool:
    if item.get_closest_marker("slow"):
        return False
    is_for_sqlite = any(item.get_closest_marker(name) for name in ("once", "either"))
    if connection.vendor != "sqlite":
        return not is_for_sqlite
    return is_for_sqlite or item.nodeid.startswith(ON_BOTH)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture: see `tests.programs`."""
    require(*(name for mark in item.iter_markers("needs") for name in mark.args))


@pytest.fixture(scope="session", autouse=True)
def _static_files_on_demand() -> Iterator[None]:
    """Do not scan the static files each time that a test client creates the middlewares."""
    with override_settings(WHITENOISE_AUTOREFRESH=True):
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Iterator[None]:
    """Read the certificates that browsers trust once, and not for each client of a server."""
    make = ssl.create_default_context
    kept = lru_cache(make)

    usual = [{"cafile": file} for file in (certifi.where(), os.environ.get("SSL_CERT_FILE"))]

    def context(*arguments: Any, **options: Any) -> ssl.SSLContext:
        is_usual = options in usual
        return (kept if is_usual else make)(*arguments, **options)

    with patch.object(ssl, "create_default_context", context):
        yield


@pytest.fixture(scope="session", autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What apps write outside of the database goes into temporary folders."""
    with ExitStack() as stack:
        for writing_to in answers("writing_to"):
            stack.enter_context(writing_to(str(tmp_path_factory.mktemp("files"))))
        yield


@pytest.fixture(scope="session", autouse=True)
def _answers_as_documented() -> Iterator[None]:
    """Hold every answer to a test client against `openapi.yaml`; read files whole.

    A test client closes what it has read to the end.
    """
    request = Client.request

    def read(self: Client, **environ: Any) -> Any:
        response: Any = request(self, **environ)
        # The document describes no other URL map.
        if not hasattr(response.wsgi_request, "urlconf"):
            require_documented(response, environ["REQUEST_METHOD"], environ["PATH_INFO"])
        if not (response.streaming and environ["PATH_INFO"].startswith("/api/")):
            return response
        known = vars(response)
        whole: Any = HttpResponse(response.getvalue(), status=response.status_code)
        vars(whole).update({name: known[name] for name in known.keys() - vars(whole).keys()})
        whole.headers, whole.cookies = response.headers, response.cookies
        # As Django's client does.
        vars(whole)["json"] = partial(self._parse_json, whole)
        return whole

    with patch.object(Client, "request", read):
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request: pytest.FixtureRequest, django_db_modify_db_settings: None
) -> None:
    """Copy a migrated database in place of migrating one; SQLite's is filled in later."""
    if citus.URL:
        citus.drop_test_database()
    elif not request.config.getoption("nomigrations"):
        test = connection.settings_dict["TEST"]
        test["MIGRATE"] = False
        if connection.vendor == "postgresql":
            test["TEMPLATE"] = migrated_database(settings.DATABASE_URL)


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """With --nomigrations, as in mutation tests, the readiness probe still has its table."""
    with django_db_blocker.unblock():
        if connection.vendor == "sqlite" and not request.config.getoption("nomigrations"):
            _fill_in()
        MigrationRecorder(connection).ensure_schema()
        if connection.vendor == "postgresql":
            _commit_in_memory()
            connection.ops.sql_flush = _emptying
        if citus.URL:
            citus.distribute_test_database()
    yield
    if citus.URL:
        with django_db_blocker.unblock():
            citus.close_test_database()


def _fill_in() -> None:
    """Make the database in memory a copy of the migrated one."""
    connection.ensure_connection()
    with closing(sqlite3.connect(migrated_database(settings.DATABASE_URL))) as migrated:
        migrated.backup(connection.connection)


def _commit_in_memory() -> None:
    """Let no commit wait for the disk: the database need not survive the machine."""
    with connection.cursor() as cursor:
        name = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
        cursor.execute("SET synchronous_commit = off")


def _emptying(_style: Any, tables: list[str], **_options: Any) -> list[str]:
    """What empties the tables after a test that commits; their foreign keys are deferred.

    Django's TRUNCATE writes new files for every table and index, which takes a second.
    """
    return [f'DELETE FROM "{table}"' for table in filled(tables)]  # noqa: S608 -- names only


@pytest.fixture
def migrations(request: pytest.FixtureRequest) -> None:
    """For tests that read the migrations; it skips them with --nomigrations, which hides them."""
    if request.config.getoption("nomigrations"):
        pytest.skip("--nomigrations hides the migrations")


@pytest.fixture(autouse=True)
def _no_throttles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rate limits are off unless a test sets them with `limits`."""
    monkeypatch.setattr(
        api_settings, "DEFAULT_THROTTLE_RATES", dict.fromkeys(api_settings.DEFAULT_THROTTLE_RATES)
    )
    monkeypatch.setattr(throttling, "_exceeded", {})
    cache.clear()


@pytest.fixture(autouse=True)
def _no_language() -> Iterator[None]:
    """The language of the last request is not that of the next test."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session", autouse=True)
def _cheap_hashes() -> Iterator[None]:
    """Hash passwords in a fiftieth of the time; servers and `full_hashes` take all of it."""
    with patch.multiple(SmallServerArgon2, memory_cost=64, time_cost=1):
        yield


@pytest.fixture
def full_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords as in production."""
    for name, cost in HASH_COSTS.items():
        monkeypatch.setattr(SmallServerArgon2, name, cost)


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`limits(login="3/min")` sets rate limits, never shortly before their windows end."""

    def set_limits(**rates: str) -> None:
        # A window is a minute or an hour of the clock.
        if (left := 60 - time.time() % 60) < SECONDS_IN_A_WINDOW:
            time.sleep(left)
        rates_now = api_settings.DEFAULT_THROTTLE_RATES | rates
        monkeypatch.setattr(api_settings, "DEFAULT_THROTTLE_RATES", rates_now)

    return set_limits


#: The member of the trip with each role, as a fixture.
WITH_ROLE = {TripRole.OWNER: "olga", TripRole.EDITOR: "ed", TripRole.VIEWER: "vera"}


def one_of_the_cast(name: str, **fields: Any) -> User:
    """A user whose e-mail address has the first name."""
    return UserFactory(name=name, email=f"{name.split()[0].lower()}@example.com", **fields)


def trip_of(olga: User, ed: User, vera: User) -> Trip:
    trip = owned_trip(olga)
    join(trip, ed, TripRole.EDITOR)
    join(trip, vera, TripRole.VIEWER)
    return trip


def client_of(user: User | None) -> APIClient:
    # The same request id for all, so that responses can be compared byte by byte.
    client = APIClient(HTTP_X_REQUEST_ID="test")
    if user is not None:
        token = token_pair(Session.start(user)).token
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


@pytest.fixture
def olga(db: None) -> User:
    return one_of_the_cast("Olga Owner")


@pytest.fixture
def ed(db: None) -> User:
    return one_of_the_cast("Ed Editor")


@pytest.fixture
def vera(db: None) -> User:
    return one_of_the_cast("Vera Viewer")


@pytest.fixture
def sam(db: None) -> User:
    return one_of_the_cast("Sam Stranger")


@pytest.fixture
def ada(db: None) -> User:
    return one_of_the_cast("Ada Admin", role=Role.ADMIN)


@pytest.fixture
def trip(olga: User, ed: User, vera: User) -> Trip:
    """A trip in EUR with Olga, Ed and Vera."""
    return trip_of(olga, ed, vera)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that stands still; `clock.shift(30)` moves it on."""
    with time_machine.travel(datetime(2026, 5, 14, 12, tzinfo=UTC), tick=False) as traveller:
        yield traveller


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A fresh checkout without a `.env`."""
    return checked_out(tmp_path / "project")


@pytest.fixture
def api() -> Api:
    """`api(olga)` is a client with a real access token; `api(None)` is anonymous."""
    return client_of


@pytest.fixture(scope="module")
def stored_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """A world that all tests of a module start from, in a transaction around theirs.

    It has its own Olga, Ed, Vera and Sam, so a test cannot ask for those too.
    """
    with ExitStack() as stack:
        with django_db_blocker.unblock():
            stack.enter_context(transaction.atomic())
            olga, ed, vera, sam = map(
                one_of_the_cast, ("Olga Owner", "Ed Editor", "Vera Viewer", "Sam Stranger")
            )
            world = World(olga, ed, sam, trip_of(olga, ed, vera))
        yield world
        with django_db_blocker.unblock():
            transaction.set_rollback(True)
            stack.close()


@pytest.fixture
def world(db: None, stored_world: World) -> World:
    """The same with a client that has met no other test."""
    return stored_world.with_new_client()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The production server, with an empty database of the engine under test."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def http(server: Server) -> Iterator[httpx.Client]:
    """A client of the server."""
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture
def traveller(http: httpx.Client) -> Traveller:
    return sign_up(http)


@pytest.fixture
def travellers(http: httpx.Client) -> list[Traveller]:
    """Four users of the server."""
    return [sign_up(http) for _number in range(4)]
