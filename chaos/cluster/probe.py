"""Probes hosts from a process of its own, which load in this one does not slow down."""

import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from chaos.service import ROOT

_PAUSE_SECONDS = 0.1
_TIMEOUT_SECONDS = 5


class Probes:
    """The times of all probes in milliseconds, in order; a failed one took the whole timeout."""

    def __init__(self) -> None:
        self.times_ms: list[float] = []

    def quantile_ms(self, part: float) -> float:
        """The time that this part of the probes took at most."""
        return self.times_ms[min(len(self.times_ms) - 1, int(len(self.times_ms) * part))]


@contextmanager
def probing(urls: Sequence[str]) -> Iterator[Probes]:
    """Probe the health of each host until the block ends; then the times are there."""
    probes = Probes()
    command = [sys.executable, "-m", "chaos.cluster.probe", *urls]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield probes
    finally:
        printed, _errors = process.communicate(timeout=30)
        probes.times_ms = sorted(float(line) for line in printed.splitlines())


def _main(urls: Sequence[str]) -> None:
    while not select.select([sys.stdin], [], [], _PAUSE_SECONDS)[0]:
        for url in urls:
            started = time.perf_counter()
            status = _health(url)
            took_ms = (time.perf_counter() - started) * 1000
            sys.stdout.write(f"{took_ms if status == HTTPStatus.OK else _TIMEOUT_SECONDS * 1000}\n")


def _health(url: str) -> int:
    """The status of a health probe on a new connection; 0 without a response.

    A client with more features takes longer to create than the service to respond, and under load
    much longer.
    """
    try:
        with closing(HTTPConnection(urlsplit(url).netloc, timeout=_TIMEOUT_SECONDS)) as connection:
            connection.request("GET", "/api/health", headers={"Host": "localhost"})
            return connection.getresponse().status
    except (OSError, HTTPException):
        return 0


if __name__ == "__main__":
    _main(sys.argv[1:])
