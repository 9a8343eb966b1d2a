"""Programs that not every machine has, and that some tests need.

A test says so by the mark `needs`. Without the program it is skipped, with the reason; with
REQUIRE_ALL, as in `make check`, it fails. `python -m tests.programs` prints the packages of Debian
that would have to be installed here.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

REQUIRE_ALL = os.environ.get("REQUIRE_ALL", "") not in {"", "0"}
#: The package that has the program.
PACKAGES = {
    "caddy": "caddy",
    "chromium": "chromium",
    "curl": "curl",
    "envsubst": "gettext-base",
    "haproxy": "haproxy",
    "nginx": "nginx-light",
    "openssl": "openssl",
    "pg_dump": "postgresql-client",
    "pgbackrest": "pgbackrest",
    "pgbouncer": "pgbouncer",
    "promtool": "prometheus",
    "psql": "postgresql-client",
    "redis-server": "redis-server",
    "systemd-analyze": "systemd",
}
#: How a file of tests that need programs is recognised: by the mark, or by a name of it.
NEEDS = re.compile(r"\bneeds\(|\b(CADDY|HAPROXY|NGINX)\b")
OTHER_NAMES = {"chromium": ("chromium-browser", "google-chrome", "google-chrome-stable")}
#: Variables that name another one than the installed.
VARIABLES = {"chromium": "CHROMIUM", "pgbouncer": "TEST_PGBOUNCER"}


def found(name: str) -> str | None:
    """The path of a program, or None; `name` is perhaps a key of `PACKAGES`."""
    chosen = os.environ.get(VARIABLES.get(name, ""))
    folders = [Path(folder) for folder in os.get_exec_path()]
    # Debian has servers where only root looks.
    path = os.pathsep.join(map(str, (*folders, *(folder.with_name("sbin") for folder in folders))))
    names = [chosen] if chosen else [name, *OTHER_NAMES.get(name, ())]
    return next(filter(None, (shutil.which(one, path=path) for one in names)), None)


def program(name: str) -> str:
    """The path of a program; raises `LookupError` if it is not installed."""
    path = found(name)
    if path is None:
        raise LookupError(f"{name} is not installed; Debian's package {PACKAGES[name]} has it")
    return path


@contextmanager
def running(command: list[str], port: int, **options: Any) -> Iterator[None]:
    """Run a program until the end of the block, which starts once it listens on `port`."""
    process = subprocess.Popen(command, **options)
    try:
        deadline = time.monotonic() + 10
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} did not start.")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=10)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def require(*names: str) -> None:
    """Do without the test that runs, unless the programs are installed."""
    try:
        for name in names:
            program(name)
    except LookupError as error:
        do_without(str(error))


def do_without(reason: str) -> NoReturn:
    """Skip the test that runs or, with REQUIRE_ALL, fail it."""
    if REQUIRE_ALL:
        pytest.fail(reason)
    pytest.skip(reason)


if __name__ == "__main__":
    packages = {package for name, package in PACKAGES.items() if not found(name)}
    sys.stdout.write("".join(f"{package}\n" for package in sorted(packages)))
