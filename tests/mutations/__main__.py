"""Removes every guard in turn and runs the closest tests: `python -m tests.mutations`.

It works in temporary copies of the checkout, one for each processor. `--only TEXT` runs the mutants
whose file or name contains TEXT, `--missing` those that no test has caught on this machine yet. The
test that caught a mutant runs first the next time. `--list` prints a table of all mutants and these
tests instead.
Mutants that only PostgreSQL can detect run on DATABASE_URL if that is PostgreSQL, otherwise on
127.0.0.1:5432 as `postgres`.
The exit status is 1 if a mutant survives, aborts the run, or no longer applies.
"""

import argparse
import os
import secrets
import shlex
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple
from urllib.parse import urlsplit

import django

from tests.mutations.mutant import Mutant, copy_checkout
from tests.mutations.report import record, recorded, table
from tests.mutations.warm import WarmPytest

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
django.setup()

from tests.mutations.catalogue import all_mutants  # noqa: E402 -- it asks the apps

#: Tests to run if the closest ones do not detect a mutant.
WIDER = ["tests/security", "tests/users", "tests/trips", "tests/splits", "tests"]


class Outcome(NamedTuple):
    """`caught_by` is a test, or empty for a survivor; `note` explains other outcomes."""

    caught_by: str
    note: str = ""


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Bench(NamedTuple):
    """What one processor works with: a copy of the checkout, and databases of its own."""

    pytest: WarmPytest
    copy: Path
    number: int

    def database_of(self, mutant: Mutant) -> str:
        if not mutant.on_postgres:
            return "sqlite://:memory:"
        url = os.environ.get("DATABASE_URL", "")
        if not url.startswith("postgres"):
            url = "postgres://postgres@127.0.0.1:5432/mutations"
        return urlsplit(url)._replace(path=f"{urlsplit(url).path}_{self.number}").geturl()


def first_failure(bench: Bench, tests: list[str], mutant: Mutant) -> Outcome:
    """The first test that fails in the copy."""
    arguments = ["-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-n", "0"]
    # The warm process has loaded the plugins before pytest could rewrite their asserts.
    arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    if mutant.old:
        arguments.append("--nomigrations")  # so does building the tables step by step
    environment = {
        "DATABASE_URL": bench.database_of(mutant),
        "DEBUG": "true",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    present = [
        t for t in tests if not t.startswith("tests") or (bench.copy / t.split("::")[0]).exists()
    ]
    if not present:
        return Outcome("", "names no test")
    status, printed = bench.pytest.run(bench.copy, environment, [*arguments, *present])
    lines = [line for line in printed.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if status == 1 and lines:
        return Outcome(lines[0].split(" - ")[0].split(" ", 1)[1].split("[")[0])
    if status == 0:
        return Outcome("")
    return Outcome("", f"broke off: {(lines or printed.splitlines() or ['?'])[-1][:200]}")


def try_out(bench: Bench, mutant: Mutant, caught_by: str, wider: bool) -> Outcome:
    """The outcome of a mutant; `caught_by` is the test that caught it the last time."""
    if not mutant.applies(bench.copy):
        return Outcome("", "does not apply")
    with mutant.applied(bench.copy):
        outcome = Outcome("")
        for tests in ([caught_by] * bool(caught_by), shlex.split(mutant.tests)):
            if tests and not outcome.caught_by and not outcome.note.startswith("broke"):
                outcome = first_failure(bench, tests, mutant)
    if wider and outcome == Outcome(""):
        outcome = _look_further(bench, mutant)
    return outcome


def _look_further(bench: Bench, mutant: Mutant) -> Outcome:
    """The first test of all that fails with the mutant, alone as well, and passes without it."""
    with mutant.applied(bench.copy):
        outcome = first_failure(bench, WIDER, mutant)
        test = outcome.caught_by
        if test and not first_failure(bench, [test], mutant).caught_by:
            return Outcome("", f"but {test} fails after others")
    if test and first_failure(bench, [test], mutant) != Outcome(""):
        return Outcome("", f"but {test} fails without it as well")
    return outcome


def try_all(chosen: list[Mutant], caught: dict[str, str], wider: bool) -> dict[Mutant, Outcome]:
    """The outcomes, on all processors; `caught` is kept up to date, and recorded."""
    outcomes: dict[Mutant, Outcome] = {}
    benches: SimpleQueue[Bench] = SimpleQueue()

    def work(mutant: Mutant) -> None:
        start, bench = time.monotonic(), benches.get()
        try:
            hint = caught.pop(mutant.name, "")
            outcome = outcomes[mutant] = try_out(bench, mutant, hint, wider)
        finally:
            benches.put(bench)
        if outcome.caught_by:
            caught[mutant.name] = outcome.caught_by
        record(dict(caught))
        seconds = time.monotonic() - start
        verdict = outcome.caught_by or f"SURVIVED {outcome.note}"
        say(f"{len(outcomes)}/{len(chosen)} {seconds:4.0f} s  {mutant.name}: {verdict}")

    with ExitStack() as stack:
        count = os.cpu_count() or 1
        for number in range(count):
            folder = tempfile.TemporaryDirectory(prefix="tripcompanion-")
            copy = Path(stack.enter_context(folder))
            copy_checkout(copy)
            benches.put(Bench(stack.enter_context(closing(WarmPytest())), copy, number))
        with ThreadPoolExecutor(count) as threads:
            list(threads.map(work, chosen))
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--list", action="store_true", help="print all mutants; run nothing")
    parser.add_argument("--missing", action="store_true", help="only those not caught yet")
    parser.add_argument("--no-wider", action="store_true", help="only the closest tests")
    options = parser.parse_args()
    chosen = [m for m in all_mutants() if options.only in f"{m.file} {m.name}"]
    if options.list:
        say("\n".join(table(chosen)))
        return 0
    caught = recorded()
    if options.missing:
        chosen = [mutant for mutant in chosen if mutant.name not in caught]
    chosen.sort(key=lambda mutant: mutant.on_postgres)
    outcomes = try_all(chosen, caught, not options.no_wider)
    survivors = [mutant.name for mutant, outcome in outcomes.items() if not outcome.caught_by]
    say(f"\n{len(outcomes) - len(survivors)} of {len(outcomes)} mutants are caught.")
    for name in survivors:
        say(f"SURVIVED: {name}")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
