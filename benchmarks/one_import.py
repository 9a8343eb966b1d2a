"""Imports a file with so many expenses: `python -m benchmarks.one_import ROWS [--plan-only]`.

It prints, as JSON, the seconds and the statements of planning and of confirming, and the largest
memory of this process in MB after each.
"""

import io
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from django.db import connection

from benchmarks.data import FIRST_DAY
from tripcompanion.exchange.confirming import confirm
from tripcompanion.exchange.planning import Choices, plan_import
from tripcompanion.exchange.recognition import describe
from tripcompanion.exchange.source import SourceFile
from users.models import User

_HEADER = "Date,Description,Category,Cost,Currency,Ana,Ben,Cleo,Dan\n"
#: What each person paid minus what they owe: one of them paid 10.00 for two, who share it.
_NETS = ("5.00", "-5.00", "0.00", "0.00")


def file_of(rows: int) -> bytes:
    """A file of Splitwise, of which each expense has one debt, in turn between all people."""
    return (_HEADER + "".join(_lines(rows))).encode()


def _lines(rows: int) -> Iterator[str]:
    for row in range(rows):
        day: date = FIRST_DAY + timedelta(days=row % 100)
        turned = ",".join(_NETS[(at + row) % 4] for at in range(4))
        yield f"{day},Dinner {row},Dining out,10.00,EUR,{turned}\n"


class _Statements:
    """Counts statements; a wrapper of `connection.execute_wrapper`."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, execute: Callable[..., Any], *args: Any) -> Any:
        self.count += 1
        return execute(*args)


def _measured(act: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    statements, start = _Statements(), time.perf_counter()
    with connection.execute_wrapper(statements):
        done = act()
    seconds = time.perf_counter() - start
    return done, {"seconds": seconds, "statements": statements.count, "mb": _peak_mb()}


def _peak_mb() -> float:
    """The largest memory of this process so far; 0 if not on Linux."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text() if status.exists() else "")
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def main(rows: int, *, is_plan_only: bool) -> dict[str, Any]:
    """Plan the file as an account of its own, and confirm the plan unless `is_plan_only`."""
    user = User.objects.create(email=f"i{rows}@example.com", email_key=f"i{rows}@example.com")
    file = SourceFile(io.BytesIO(file_of(rows)))
    stored, plan = _measured(lambda: plan_import(user, describe(file), Choices(as_new_trip=True)))
    taken = stored.plan.counts["expense"]
    if taken != rows:
        raise SystemExit(f"{taken} of {rows} rows would be taken.")
    if is_plan_only:
        return {"plan": plan}
    done, confirmed = _measured(lambda: confirm(stored.pk, user))
    if done.trip.expenses.count() != rows:
        raise SystemExit(f"Not {rows} expenses were recorded.")
    return {"plan": plan, "confirm": confirmed}


if __name__ == "__main__":
    found = main(int(sys.argv[1]), is_plan_only="--plan-only" in sys.argv)
    sys.stdout.write(json.dumps(found))
