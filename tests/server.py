"""A real server process for tests: gunicorn on a free port, with its own database."""

import atexit
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
from django.conf import settings

from tests import citus
from tests.migrated import administrator, migrated_database

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 30


@dataclass(frozen=True)
class Server:
    """The server's URL, environment and process; runs `manage.py` on its database."""

    url: str
    environment: dict[str, str]
    #: The process that starts the workers and handles signals.
    pid: int = 0
    #: The checkout that it runs.
    root: Path = ROOT

    def workers(self) -> list[Path]:
        """The /proc directory of each worker; Linux only."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/children")
        return [Path("/proc", pid) for task in tasks for pid in task.read_text().split()]

    def manage(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` on the server's database; raises `CalledProcessError` if it fails."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.root,
            env=self.environment | environment,
            check=True,
            capture_output=True,
            text=True,
        )

    def journal(self, trip_id: int) -> list[dict[str, Any]]:
        """What the database of the server has in the journal of a trip, the newest first."""
        code = (
            "import json\n"
            "from trips.models import JournalEntry\n"
            f"rows = JournalEntry.objects.filter(trip={trip_id}).order_by('-number')\n"
            "names = 'number', 'event', 'person_id', 'changes'\n"
            "rows = [{name: getattr(row, name) for name in names} for row in rows]\n"
            "print(json.dumps(rows, default=float))"
        )
        told = self.manage("shell", "--no-imports", "-c", code).stdout
        rows: list[dict[str, Any]] = json.loads(told)
        return rows


@contextmanager
def running_server(
    port: int = 0,
    binds: Sequence[str] = (),
    *,
    durable: bool = False,
    root: Path = ROOT,
    **environment: str,
) -> Iterator[Server]:
    """Start the server with migrated tables; at the end, stop it and drop its database.

    It listens on `port` and `binds`, and runs the checkout in `root`. Throttles are off unless
    `environment` sets them. PostgreSQL writes a commit to the disk before it answers only if the
    database is `durable`.
    """
    port = port or free_port()
    limits = ("LOGIN", "LOGIN_ADDRESS", "REGISTER", "LOOKUP", "REFRESH", "MAIL", "EXPORT")
    limits = (*limits, "USER", "ANON")
    given = environment.get("DATABASE_URL")
    with (
        tempfile.TemporaryDirectory() as folder,
        nullcontext(given)
        if given
        else _database(Path(folder), durable, root, "SPLITWISE_API" in environment) as database_url,
    ):
        server = Server(
            f"http://localhost:{port}",
            os.environ
            | {f"THROTTLE_{name}": "" for name in limits}
            | {
                "DEBUG": "true",
                "SECRET_KEY": secrets.token_urlsafe(48),
                "DATABASE_URL": database_url,
                "PORT": str(port),
                "WEB_CONCURRENCY": "2",
            }
            | environment,
            root=root,
        )
        if given:
            server.manage("migrate_safely", "--verbosity", "0")
        listening = [f"--bind={bind}" for bind in (f"127.0.0.1:{port}", *binds)]
        command = [sys.executable, "-m", "tripcompanion", *listening]
        process = subprocess.Popen(command, cwd=root, env=server.environment)
        try:
            server = replace(server, pid=process.pid)
            _wait_until_it_answers(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(timeout=START_SECONDS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_it_answers(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(f"{server.url}/api/health").is_success and _has_all_workers(server):
                return
        time.sleep(0.05)
    raise RuntimeError(f"The server did not start on {server.url}.")


def _has_all_workers(server: Server) -> bool:
    """The first one answers before the last one has been forked."""
    count = int(server.environment["WEB_CONCURRENCY"])
    return sys.platform != "linux" or len(server.workers()) == count


@contextmanager
def _database(folder: Path, durable: bool, root: Path, with_splitwise_api: bool) -> Iterator[str]:
    """A database of the engine that the tests run on, migrated by the checkout in `root`."""
    parts = urlsplit(settings.DATABASE_URL)
    template = _template(settings.DATABASE_URL, root, with_splitwise_api)
    if parts.scheme.startswith("sqlite"):
        path = folder / "server.sqlite3"
        shutil.copyfile(template, path)
        yield f"sqlite:///{path}"
        return
    name = f"tripcompanion_server_{secrets.token_hex(4)}"
    if _is_distributed(settings.DATABASE_URL, root):
        citus.copy_database(template, name)
        try:
            yield urlunsplit(parts._replace(path=f"/{name}"))
        finally:
            citus.drop_database(name)
        return
    with administrator(settings.DATABASE_URL) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        try:
            if not durable:
                connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
            yield urlunsplit(parts._replace(path=f"/{name}"))
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@cache
def _template(database_url: str, root: Path, with_splitwise_api: bool) -> str:
    """The file or the name of a migrated database, which servers get a copy of."""
    if not _is_distributed(database_url, root):
        return migrated_database(database_url, root, with_splitwise_api=with_splitwise_api)
    name = f"tripcompanion_template_{secrets.token_hex(4)}"
    with administrator(database_url) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    atexit.register(citus.drop_database, name)
    url = urlunsplit(urlsplit(database_url)._replace(path=f"/{name}"))
    environment = {"DEBUG": "true", "SECRET_KEY": secrets.token_urlsafe(48), "DATABASE_URL": url}
    server = Server("", os.environ | environment, root=root)
    own = {"SPLITWISE_API": "true"} if with_splitwise_api else {}
    server.manage("migrate_safely", "--verbosity", "0", **own)
    citus.join_nodes(name)
    server.manage("distribute")
    citus.close_database(name)
    return name


def _is_distributed(database_url: str, root: Path) -> bool:
    """Whether this checkout's tables are distributed; another release may not know how."""
    return bool(citus.URL) and database_url == citus.URL and root == ROOT
