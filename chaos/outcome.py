"""What `make chaos` and `make cluster` print at the end."""

import sys
import time
from collections.abc import Iterable, Sized

from tests.programs import REQUIRE_ALL


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def concluded(
    rows: Sized, unit: str, started: float, *, not_run: Iterable[str], failures: list[str]
) -> int:
    """Print what was not run and what failed; returns the exit status.

    `started` is a reading of `time.monotonic`. A run without rows has failed, too, and with
    REQUIRE_ALL one in which something was not run.
    """
    if REQUIRE_ALL:
        failures, not_run = [*failures, *not_run], ()
    for line in not_run:
        say(f"Not run: {line}")
    for line in failures:
        say(f"FAILED {line}")
    say(f"{len(rows)} {unit} in {time.monotonic() - started:.0f} s, {len(failures)} failed.")
    return int(bool(failures) or not rows)
