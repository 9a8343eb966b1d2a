"""A temporary database, and the two servers that use it."""

import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from tests import pgbouncer
from tests.postgres import HOW_TO_GET_ONE, WAYS, Unavailable, connect
from tests.programs import found

ROOT = Path(__file__).resolve().parent.parent
PROCESSES = 2
#: The virtual environment of `make bench`, which has the requirements of production only: those of
#: development contain packages that DRF imports if it finds them, which take 6 MB.
_PRODUCTION = ROOT / ".venv" / "production" / "bin" / "python"
_PYTHON = str(_PRODUCTION) if _PRODUCTION.exists() else sys.executable
#: The goal for the memory of a worker.
MOST_MB = 120 if _PRODUCTION.exists() else 126
_START_SECONDS = 60


@dataclass(frozen=True)
class Server:
    """A running gunicorn: its port, and its use of CPU and memory."""

    port: int
    pid: int

    def workers(self) -> list[Path]:
        """The directories of the workers in /proc; empty if not on Linux."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/children")
        return [Path("/proc", pid) for thread in threads for pid in thread.read_text().split()]

    def cpu_seconds(self) -> float:
        """Processor time of the workers so far, with nanosecond resolution."""
        threads = (path for worker in self.workers() for path in worker.glob("task/*/schedstat"))
        return sum(int(path.read_text().split()[0]) for path in threads) / 1e9

    def memory_mb(self, what: str) -> float:
        """The maximum over all workers: `VmRSS` is now, `VmHWM` the peak."""
        status = (worker / "status" for worker in self.workers())
        peaks = [re.search(rf"{what}:\s+(\d+) kB", path.read_text()) for path in status]
        return max((int(peak[1]) * 1024 / 1e6 for peak in peaks if peak), default=0.0)


@dataclass(frozen=True)
class Home:
    """A migrated database, and the environment variables to use it."""

    title: str
    environment: dict[str, str]
    #: Environment variables of the servers, but not of commands.
    of_servers: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python with these arguments on the database."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            check=False,
            capture_output=True,
            text=True,
        )

    def must(self, *arguments: str) -> str:
        """`run` and return its output; ends the benchmark if it fails."""
        done = self.run(*arguments)
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def fill(self, sizes: Iterable[int]) -> None:
        """Create a W(n) of each size."""
        self.must("-m", "benchmarks.data", *map(str, sizes))
        self.analyse()

    def analyse(self) -> None:
        """Update the database's statistics."""
        url = self.environment["DATABASE_URL"]
        if url.startswith("postgres"):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")

    def service(self, **settings: str) -> AbstractContextManager[Server]:
        """The service, configured as in production but for `settings`."""
        return self._gunicorn(**settings)

    def baseline(self, *, has_same_worker: bool = False) -> AbstractContextManager[Server]:
        """The baseline under gunicorn's own worker, or under that of the service."""
        folder = ROOT / "benchmarks" / "baseline"
        config = ROOT / "gunicorn.conf.py" if has_same_worker else folder / "gunicorn_settings.py"
        # Imported from its own directory, so that its processes do not load Django.
        # Each of its threads has a database connection, so it has as many threads as the service
        # has to execute requests.
        own = ("--config", str(config), "--threads", "4", "--pythonpath", str(folder.parent))
        return self._gunicorn(*own, "baseline.app:application")

    @contextmanager
    def _gunicorn(self, *arguments: str, **settings: str) -> Iterator[Server]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = subprocess.Popen(
            [_PYTHON, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", *arguments],
            cwd=ROOT,
            env=self.environment | self.of_servers | settings,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait(port, process)
            yield Server(port, process.pid)
        finally:
            process.terminate()
            process.wait(timeout=_START_SECONDS)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"A server did not start on port {port}.")


@contextmanager
def home(*, sqlite: bool = False, pooler: bool = False) -> Iterator[Home]:
    """A new database with empty tables, dropped at the end.

    With `pooler`, both servers reach it through PgBouncer, and prepare statements if that supports
    them.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tripcompanion-")))
        if sqlite:
            title, url = "SQLite", f"sqlite:///{folder / 'bench.sqlite3'}"
        else:
            title, url = _postgres(stack, folder)
        of_servers = {}
        if pooler:
            of_servers = _pooler(stack, url)
            title += f" through PgBouncer {'.'.join(map(str, pgbouncer.version()))}"
        yield migrated(title, url, of_servers)


def migrated(title: str, url: str, of_servers: Mapping[str, str]) -> Home:
    """The empty database at `url`, with all tables."""
    limits = ("LOGIN", "LOGIN_ADDRESS", "REGISTER", "LOOKUP", "REFRESH", "USER", "ANON")
    key = secrets.token_urlsafe(48)
    environment = os.environ | {f"THROTTLE_{name}": "" for name in limits}
    environment |= {
        "DATABASE_URL": url,
        "DEBUG": "false",
        "JWT_SIGNING_KEY": key,
        "SECRET_KEY": key,
        "WEB_CONCURRENCY": str(PROCESSES),
    }
    here = Home(title, environment, of_servers)
    here.must("manage.py", "migrate_safely", "--verbosity", "0")
    return here


def _pooler(stack: ExitStack, url: str) -> dict[str, str]:
    """Environment variables for a PgBouncer in front of the database."""
    if not found("pgbouncer"):
        raise SystemExit("PgBouncer is not installed.")
    login = stack.enter_context(pgbouncer.pooling(url, PROCESSES * pgbouncer.POOL_SIZE))
    return {
        "DATABASE_URL": f"postgres://{login}{urlsplit(url).path}?sslmode=disable",
        "DATABASE_POOLER": "transaction",
        # The service sets it itself.
        "PGTZ": "UTC",
        "DATABASE_PREPARE": str(pgbouncer.version() >= pgbouncer.PREPARING).lower(),
    }


def _postgres(stack: ExitStack, folder: Path) -> tuple[str, str]:
    """The title and URL of a new database on the first available PostgreSQL."""
    reasons = []
    for way, get in WAYS.items():
        place = folder / way
        place.mkdir()
        try:
            url = urlsplit(stack.enter_context(get(place)))
            admin = stack.enter_context(connect(url.geturl()))
        except Unavailable as reason:
            reasons.append(f"{way}: {reason}")
            continue
        url = url._replace(path=f"{url.path}_bench")
        name = sql.Identifier(url.path.removeprefix("/"))
        admin.execute(sql.SQL("CREATE DATABASE {}").format(name))
        stack.callback(admin.execute, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
        version = admin.info.parameter_status("server_version")
        return f"PostgreSQL {version} ({way})", url.geturl()
    raise SystemExit(f"PostgreSQL: {'; '.join(reasons)}. {HOW_TO_GET_ONE}")
