"""PostgreSQL clusters of a test's own, and the service on them."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg

from tests.postgres import HASTE, Cluster, Unavailable, installed_programs, wheel_programs
from tests.programs import do_without
from tests.server import Server, running_server
from tests.splits.journey import Traveller, sign_up
from tests.trips.bodies import lisbon

TIMEOUT_SECONDS = 1
#: Until a server has what was written, or the service works again.
DEADLINE_SECONDS = 20


@contextmanager
def homes(count: int) -> Iterator[list[Path]]:
    """Folders that the user who runs PostgreSQL can reach."""
    with ExitStack() as stack:
        names = [stack.enter_context(TemporaryDirectory(prefix="tc-")) for _home in range(count)]
        yield [Path(name) for name in names]


@contextmanager
def new_cluster(home: Path, settings: str = "") -> Iterator[Cluster]:
    """A running cluster with an empty database."""
    for programs in (installed_programs, wheel_programs):
        with suppress(Unavailable):
            cluster = Cluster(programs(home), home, HASTE + settings)
            break
    else:
        do_without("PostgreSQL's programs are not installed")
    with stopped_at_the_end(cluster):
        run(cluster, "CREATE DATABASE tripcompanion", "postgres")
        yield cluster


@contextmanager
def stopped_at_the_end(cluster: Cluster) -> Iterator[Cluster]:
    try:
        cluster.start()
        yield cluster
    finally:
        with suppress(Unavailable):
            cluster.stop("immediate")


def run(cluster: Cluster, statement: str, database: str = "tripcompanion") -> list[Any]:
    url = urlsplit(cluster.url)._replace(path=f"/{database}").geturl()
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def wait_until(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_done():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@contextmanager
def serving(database_url: str, **settings: str) -> Iterator[tuple[Server, Traveller]]:
    limits = {"DATABASE_TIMEOUT": str(TIMEOUT_SECONDS), "DEBUG": "false", **settings}
    with (
        running_server(DATABASE_URL=database_url, **limits) as server,
        httpx.Client(base_url=server.url, timeout=30, trust_env=False) as http,
    ):
        yield server, sign_up(http)


def add_trip(owner: Traveller, key: str) -> httpx.Response:
    return owner.call("POST", "/trips", lisbon(), **{"Idempotency-Key": key})


def trips(owner: Traveller) -> list[int]:
    return [trip["id"] for trip in owner.done("GET", "/trips")["items"]]
