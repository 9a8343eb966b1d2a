"""The service under its production server, with methods to start, signal and kill it."""

import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
WORKERS = 4
_START_SECONDS = 60
_MOST_LOGGED_BYTES = 100_000_000
#: What the service logs if the database is the reason.
_AWAY = b"The database is unavailable"
_LIMITS = ("LOGIN", "LOGIN_ADDRESS", "REGISTER", "LOOKUP", "REFRESH", "USER", "ANON")


class Service:
    """The server on a free port, with the database at `database_url`; throttles off by default.

    `address` is one of the loopback's, and `root` the checkout that it runs.
    """

    def __init__(
        self,
        database_url: str,
        *,
        address: str = "127.0.0.1",
        root: Path = ROOT,
        **environment: str,
    ) -> None:
        with socket.create_server((address, 0)) as probe:
            self.port = probe.getsockname()[1]
        self.address = f"{address}:{self.port}"
        self.url = f"http://{self.address}"
        self.root = root
        self.environment = (
            os.environ
            | {f"THROTTLE_{name}": "" for name in _LIMITS}
            | {
                "DEBUG": "false",
                "SECRET_KEY": secrets.token_urlsafe(48),
                "DATABASE_URL": database_url,
                "DATABASE_TIMEOUT": "5",
                "WEB_CONCURRENCY": str(WORKERS),
                "LOG_LEVEL": "ERROR",
                # All faults together record and change more than a trip may on a day.
                "QUOTA_EXPENSES": "1000000",
                "QUOTA_CHANGES": "1000000",
            }
            | environment
        )
        self._process: subprocess.Popen[bytes] | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- for as long as the service runs
        self._log_bytes_read = 0

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` on the service's database; the caller checks the exit status."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            # Commands run without a timeout.
            env=self.environment | {"DATABASE_TIMEOUT": "0"},
            cwd=self.root, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def start(self, *, wait: bool = True) -> None:
        """Start the processes; with `wait`, return when the service responds."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tripcompanion", "--bind", self.address],
            env=self.environment, cwd=self.root, stderr=self._log, start_new_session=True,
        )  # fmt: skip
        if wait:
            self.wait_for("/api/health", 200)

    def tracebacks(self) -> list[str]:
        """What it logged since this was called last, but for those of a database that is away."""
        # Reading must not move the place at which the processes write.
        text = os.pread(self._log.fileno(), _MOST_LOGGED_BYTES, self._log_bytes_read)
        self._log_bytes_read += len(text)
        lines = [line for line in text.splitlines() if b'"exc_info"' in line]
        return [json.loads(line)["exc_info"] for line in lines if _AWAY not in line]

    def wait_for(self, path: str, status: int, seconds: float = _START_SECONDS) -> float:
        """Poll until `path` returns `status`; the seconds that it took."""
        started = time.monotonic()
        while time.monotonic() - started < seconds:
            if self.status(path) == status:
                return time.monotonic() - started
            time.sleep(0.02)
        raise RuntimeError(f"{path} did not answer {status} within {seconds} s.")

    def status(self, path: str) -> int:
        """The status of a GET; 0 if there is no response."""
        try:
            return httpx.get(f"{self.url}{path}", timeout=10).status_code
        except httpx.TransportError:
            return 0

    @property
    def process(self) -> Any:
        if self._process is None:
            raise RuntimeError("The service was not started.")
        return self._process

    def workers(self) -> list[int]:
        """The process ids of the workers (Linux only)."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(pid) for thread in threads for pid in thread.read_text().split()]

    def signal_worker(self, number: signal.Signals) -> int:
        """Send a signal to a random worker; its process id."""
        pid = random.choice(self.workers())
        os.kill(pid, number)
        return pid

    def kill(self) -> None:
        """Kill the master and all workers at once, as when a container is killed."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(_START_SECONDS)

    def stop(self) -> None:
        """Terminate it and wait until requests in progress are finished."""
        if self._process and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(_START_SECONDS)

    def memory_mib(self) -> float:
        """Resident memory of the largest worker."""
        pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.workers()]
        return max(pages, default=0) * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def running(database_url: str, **environment: str) -> Iterator[Service]:
    """A migrated and running service, stopped at the end."""
    service = Service(database_url, **environment)
    migrated = service.manage("migrate_safely", "--verbosity", "0")
    if migrated.returncode:
        raise RuntimeError(migrated.stderr)
    service.start()
    try:
        yield service
    finally:
        service.stop()
