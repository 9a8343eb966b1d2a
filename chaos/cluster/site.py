"""The machines of a cluster, on addresses of the loopback.

Two hosts with the service (127.0.0.2 and 127.0.0.3) behind HAProxy with `deploy/haproxy.cfg`, a
primary PostgreSQL and its standbys, PgBouncer with the configuration of deploy/databases.md, and
Redis.
"""

import os
import secrets
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from chaos.service import ROOT, Service
from tests import pgbouncer
from tests.postgres import Cluster, Unavailable, installed_programs, wheel_programs
from tests.programs import program
from tests.proxy import Proxy, haproxy_of_hosts

ADDRESSES = ("127.0.0.2", "127.0.0.3")
#: Processes of a host: one for each core that it would have itself; see deploy/README.md.
PROCESSES = max(1, (os.cpu_count() or 1) // len(ADDRESSES))
#: Of a process, in gunicorn.conf.py.
_THREADS = 768
#: What HAProxy needs to see that a host is up or down, and to drain it.
SETTLED_SECONDS = 3
#: Durable, as in production.
_SETTINGS = "max_connections = 100\nfsync = on\n"
_DEADLINE_SECONDS = 60


def wait_until(is_done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not is_done():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not within {_DEADLINE_SECONDS} s")
        time.sleep(0.05)


def run(url: str, statement: str) -> list[Any]:
    """The rows of a statement, on a connection of its own."""
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def primary(settings: str = "") -> Iterator[Cluster]:
    """A running PostgreSQL with an empty database."""
    reasons = []
    with _home() as home:
        for programs in (installed_programs, wheel_programs):
            try:
                cluster = Cluster(programs(home), home, _SETTINGS + settings)
                break
            except Unavailable as reason:
                reasons.append(str(reason))
        else:
            raise LookupError(f"there is no PostgreSQL: {'; '.join(reasons)}")
        with _running(cluster):
            run(urlsplit(cluster.url)._replace(path="/postgres").geturl(), _NEW_DATABASE)
            yield cluster


_NEW_DATABASE = "CREATE DATABASE tripcompanion"


@contextmanager
def standby(of: Cluster, name: str) -> Iterator[Cluster]:
    """A running standby, which calls itself `name` at the primary."""
    with _home() as home:
        copy = of.standby(home)
        conninfo = of.url.replace("postgres://", "postgresql://")
        with (home / "data" / "postgresql.auto.conf").open("a") as file:
            file.write(f"primary_conninfo = '{conninfo}?application_name={name}'\n")
        with _running(copy):
            yield copy


@contextmanager
def _home() -> Iterator[Path]:
    """A folder that the user who runs PostgreSQL can reach."""
    with tempfile.TemporaryDirectory(prefix="tripcompanion-cluster-") as folder:
        yield Path(folder)


@contextmanager
def _running(cluster: Cluster) -> Iterator[None]:
    try:
        cluster.start()
        yield
    finally:
        with suppress(Unavailable):
            cluster.stop("immediate")


@contextmanager
def pooled(cluster: Cluster, pool_size: int) -> Iterator[str]:
    """PgBouncer in front of it; yields the URL of the database through it."""
    with pgbouncer.pooling(cluster.url, pool_size) as login:
        yield f"postgres://{login}/tripcompanion?sslmode=disable"


@contextmanager
def redis() -> Iterator[str]:
    """A Redis of its own, which keeps nothing; yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [program("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)


class Site:
    """Two hosts with one database and one key, and the proxy in front of them."""

    def __init__(self, hosts: Sequence[Service], proxy: Proxy) -> None:
        self.hosts, self.proxy = list(hosts), proxy

    def set_state(self, number: int, state: str) -> None:
        """`drain` a host, so that it gets no more requests, or make it `ready` again."""
        self.proxy.command(f"set server service/host{number + 1} state {state}")

    def is_up(self, number: int) -> bool:
        """Whether the proxy sends requests to the host."""
        return self._column(number, "status").startswith("UP")

    def times_down(self) -> int:
        """How often the proxy has taken a host out because its probes failed."""
        return sum(int(self._column(number, "chkdown")) for number in range(len(self.hosts)))

    def deploy(self, number: int) -> None:
        """Replace the processes of a host, as an operator does: drain, stop, start, ready."""
        host = self.hosts[number]
        self.set_state(number, "drain")
        time.sleep(SETTLED_SECONDS)
        host.stop()
        host.start()
        self.set_state(number, "ready")
        wait_until(lambda: self.is_up(number), f"host {number + 1} is up")

    def _column(self, number: int, name: str) -> str:
        head, *rows = self.proxy.ask("show stat").lstrip("# ").splitlines()
        place = head.split(",").index(name)
        [row] = [row for row in rows if row.startswith(f"service,host{number + 1},")]
        return row.split(",")[place]


@contextmanager
def site(
    database_url: str, *, roots: Sequence[Path] = (ROOT, ROOT), **environment: str
) -> Iterator[Site]:
    """Two migrated and running hosts behind HAProxy; `roots` are the checkouts that they run."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(_home()))
        shared = {
            "ALLOWED_HOSTS": ",".join(["localhost", *ADDRESSES]),
            "CACHE_URL": stack.enter_context(redis()),
            "NUM_PROXIES": "1",
            "SECRET_KEY": secrets.token_urlsafe(48),
            "WEB_CONCURRENCY": str(PROCESSES),
        }
        hosts = [
            Service(database_url, address=address, root=root, **shared, **environment)
            for address, root in zip(ADDRESSES, roots, strict=True)
        ]
        for host in hosts:
            stack.callback(host.stop)
            migrated = host.manage("migrate_safely", "--verbosity", "0")
            if migrated.returncode:
                raise RuntimeError(migrated.stderr)
            host.start()
        urls = [host.url for host in hosts]
        # All clients of the parts have the same address.
        limits = {"MAXCONN": str(PROCESSES * _THREADS), "MAX_CONNECTIONS_OF_A_CLIENT": "10000"}
        proxy = haproxy_of_hosts(urls, folder, **limits)
        running = Site(hosts, stack.enter_context(proxy))
        for number in range(len(hosts)):
            wait_until(lambda n=number: running.is_up(n), "the hosts are up")
        yield running
