"""Runs the suite on SQLite, then on a real PostgreSQL: `python -m tests.databases [pytest args]`.

PostgreSQL is, in this order: a running server (DATABASE_URL, else 127.0.0.1:5432 as `postgres`),
a throw-away cluster of an installed PostgreSQL, a throw-away cluster of the one in the dev wheel.
TEST_POSTGRES=server, throwaway or wheel allows that one only. Without any, SQLite's outcome
decides the exit status, unless --require-postgres is given; with --sqlite, none is looked for. The
last line is the total.
"""

import os
import re
import secrets
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from tests.postgres import HOW_TO_GET_ONE, WAYS, Unavailable, connect


class Tally(NamedTuple):
    """How many tests passed, failed (or could not run) and were skipped."""

    passed: int
    failed: int
    skipped: int

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_suite(title: str, database_url: str, args: list[str]) -> Tally:
    """Run pytest on the database; a run that broke off counts as a failure."""
    say(f"\n== {title}")
    environment = {
        "DATABASE_URL": database_url,
        "DEBUG": "true",
        "SECRET_KEY": secrets.token_urlsafe(48),
        # Each worker and each server would compile all modules again.
        "PYTHONDONTWRITEBYTECODE": "",
    }
    # One more than there are cores: many tests wait, for a lock or for a client to be given up.
    # One file is done before several processes have started.
    is_one_file = sum(arg.startswith("tests") for arg in args) == 1 and ".py" in " ".join(args)
    workers = 0 if is_one_file else min((os.cpu_count() or 1) + 1, 4)
    counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "junit.xml")
        # Neighbours stay on one worker, so that a module's server is not started by each.
        pool = [f"--numprocesses={workers}", "--dist=worksteal"]
        command = [sys.executable, "-m", "pytest", *pool]
        status = subprocess.run(
            [*command, f"--junit-xml={report}", *args], env=os.environ | environment, check=False
        ).returncode
        if status == pytest.ExitCode.USAGE_ERROR:
            # It has said what is wrong with the arguments; the next run would say it again.
            sys.exit(status)
        if report.exists():
            for suite in ElementTree.parse(report).iter("testsuite"):  # noqa: S314 -- by pytest
                counts = {key: counts[key] + int(suite.get(key, 0)) for key in counts}
    failed = counts["failures"] + counts["errors"]
    passed = counts["tests"] - failed - counts["skipped"]
    return Tally(passed, failed or int(status != 0), counts["skipped"])


def main(args: list[str]) -> int:
    """Run the suite on both; 1 if a test failed, or a required PostgreSQL could not be had."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))  # so that the clean-up runs
    chosen = os.environ.get("TEST_POSTGRES")
    if chosen and chosen not in WAYS:
        raise SystemExit(f"TEST_POSTGRES must be one of {', '.join(WAYS)}, not {chosen!r}.")
    pytest_args = [arg for arg in args if arg not in {"--require-postgres", "--sqlite"}]
    for arg in pytest_args:
        path = arg.partition("::")[0]
        if re.match("tests(/|$)", path) and not Path(path).exists():
            raise SystemExit(f"There is no {path} to test.")
    reasons = []
    with ExitStack() as stack:

        def folder() -> Path:
            return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tripcompanion-")))

        title = f"SQLite {sqlite3.sqlite_version}"
        tallies = {title: run_suite(title, f"sqlite:///{folder()}/db.sqlite3", pytest_args)}
        ways = [chosen] if chosen else [*WAYS]
        for way in [] if "--sqlite" in args else ways:
            try:
                url = stack.enter_context(WAYS[way](folder()))
                with connect(url) as connection:
                    version = connection.info.parameter_status("server_version")
            except Unavailable as reason:
                reasons.append(f"{way}: {reason}")
                continue
            title = f"PostgreSQL {version} ({way}, {urlsplit(url).hostname})"
            tallies[title] = run_suite(title, url, pytest_args)
            break
    say("")
    for title, tally in tallies.items():
        say(f"{title}: {tally}")
    if len(tallies) == 1 and "--sqlite" not in args:
        say(f"PostgreSQL: not run; {'; '.join(reasons)}. {HOW_TO_GET_ONE}")
    total = Tally(*map(sum, zip(*tallies.values(), strict=True)))
    say(str(total))
    missing = len(tallies) == 1 and "--require-postgres" in args
    return int(total.failed > 0 or missing)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
