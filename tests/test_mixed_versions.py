"""The previous release runs beside this version on one database, as while hosts are replaced."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx
import psycopg
import pytest

from tests.programs import do_without
from tests.releases import previous_release
from tests.server import running_server
from tests.splits.journey import Journey, Traveller, sign_up, split_path

ROUNDS = 6

pytestmark = pytest.mark.postgresql


@pytest.fixture(scope="module")
def previous(tmp_path_factory):
    """A checkout of the previous release, if the history has it."""
    folder = tmp_path_factory.mktemp("previous")
    if not previous_release(folder):
        do_without("the history does not have the previous release")
    return folder


def client(server):
    return httpx.Client(base_url=server.url, timeout=60)


def readiness(server):
    return httpx.get(f"{server.url}/api/health/ready").status_code


def through(host, traveller):
    return Traveller(host, traveller.id, traveller.headers)


class Writers:
    """A thread for each host, which changes the trip; what is refused fails the test."""

    def __init__(self, journey, other):
        self.journey, self.other = journey, other
        self.written: Counter[str] = Counter()
        self._ending = threading.Event()

    def write(self, host):
        """One of each kind of change of the ledger."""
        owner, other = through(host, self.journey.owner), through(host, self.other)
        mine = Journey(owner, self.journey.id)
        expenses, settlements = f"{mine.path}/expenses", f"{mine.path}/settlements"
        kept, deleted, changed = (mine.spend(amount, owner, other) for amount in (31, 17, 90))
        [split] = [s for s in kept["splits"] if s["participant"]["id"] == other.id]
        other.done("PUT", split_path(split, "/pay"))
        other.done("PUT", split_path(split, "/unpay"))
        other.done("PUT", split_path(split, "/pay"))
        owner.done("DELETE", f"{expenses}/{deleted['id']}")
        owner.done("PATCH", f"{expenses}/{changed['id']}", {"amount": 75})
        payment = {"fromUserId": other.id, "toUserId": owner.id, "amount": 12}
        paid = other.done("POST", settlements, payment)
        other.done("POST", settlements, payment)
        owner.done("DELETE", f"{settlements}/{paid['id']}")
        self.written[str(host.base_url)] += 1

    def until_told(self, host):
        while not self._ending.is_set():
            self.write(host)

    @contextmanager
    def writing(self, *hosts):
        with ThreadPoolExecutor(len(hosts)) as threads:
            running = [threads.submit(self.until_told, host) for host in hosts]
            try:
                yield
            finally:
                self._ending.set()
            for one in running:
                one.result()
        self._ending.clear()

    def wait_for(self, host, rounds):
        """Until so many rounds more were written through this host."""
        wanted = self.written[str(host.base_url)] + rounds
        deadline = threading.Event()
        for _tick in range(600):
            if self.written[str(host.base_url)] >= wanted:
                return
            deadline.wait(0.1)
        raise AssertionError(f"{self.written} after a minute")


@pytest.mark.slow
def test_two_versions_write_to_one_database_and_the_ledger_is_right(previous):
    with running_server(root=previous) as old, client(old) as old_host, ExitStack() as stack:
        owner, other = sign_up(old_host), sign_up(old_host)
        journey = Journey.start(owner)
        journey.admit(other)
        writers = Writers(journey, other)
        shared = {name: old.environment[name] for name in ("DATABASE_URL", "SECRET_KEY")}
        with writers.writing(old_host):
            writers.wait_for(old_host, 2)
            # Migrates while the previous release writes.
            new = stack.enter_context(running_server(**shared))
        assert (readiness(old), readiness(new)) == (200, 200)
        new_host = stack.enter_context(client(new))
        with writers.writing(old_host, new_host):
            writers.wait_for(new_host, ROUNDS)
            writers.wait_for(old_host, 2)
        assert "no difference" in old.manage("audit_ledger").stdout
        assert "no difference" in new.manage("audit_ledger", "--mend").stdout
        # A later version has raised the floor.
        with psycopg.connect(new.environment["DATABASE_URL"]) as connection:
            connection.execute("INSERT INTO kit_schemafloor VALUES ('splits', '9999_later')")
        assert readiness(new) == 503
