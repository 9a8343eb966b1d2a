"""Imports a file with so many expenses: `python -m benchmarks.one_import ROWS`.

It prints, as JSON, the seconds, the seconds of processor time, and the statements of planning and
of confirming, and the largest memory of this process in MB after each.
"""

import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from django.db import connection

from benchmarks.data import FIRST_DAY
from plugins.exchange.confirming import confirm
from plugins.exchange.planning import Choices, plan_import
from users.models import User

_HEADER = "Date,Description,Category,Cost,Currency,Ana,Ben,Cleo,Dan\n"
#: What each person paid minus what they owe: one of them paid 10.00 for two, who share it.
_NETS = ("5.00", "-5.00", "0.00", "0.00")
#: The group settles up after so many expenses, as a trip may have only so many open debts. Two
#: more than a multiple of four leave Ben owing Dan 5.00.
_PERIOD = 5_002
_PER_DAY = 50


def file_of(rows: int) -> bytes:
    """A file of Splitwise, of which each expense has one debt, in turn between all people."""
    return (_HEADER + "".join(_lines(rows))).encode()


def _lines(rows: int) -> Iterator[str]:
    for row in range(rows):
        day: date = FIRST_DAY + timedelta(days=row // _PER_DAY)
        at = row % _PERIOD
        turned = ",".join(_NETS[(person + at) % 4] for person in range(4))
        yield f"{day},Dinner {row},Dining out,10.00,EUR,{turned}\n"
        if at == _PERIOD - 1:
            yield f"{day},Ben paid Dan,Payment,5.00,EUR,0.00,5.00,0.00,-5.00\n"


class _Statements:
    """Counts statements; a wrapper of `connection.execute_wrapper`."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, execute: Callable[..., Any], *args: Any) -> Any:
        self.count += 1
        return execute(*args)


def _measured(act: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    statements, start, start_busy = _Statements(), time.perf_counter(), _processor_seconds()
    with connection.execute_wrapper(statements):
        done = act()
    seconds, busy = time.perf_counter() - start, _processor_seconds() - start_busy
    took = {"seconds": seconds, "processor_seconds": busy}
    return done, {**took, "statements": statements.count, "mb": _peak_mb()}


def _processor_seconds() -> float:
    """Of this process and, on Linux, of the PostgreSQL process that serves its connection."""
    seconds = time.process_time()
    if connection.vendor == "postgresql":
        connection.ensure_connection()
        status = Path(f"/proc/{connection.connection.info.backend_pid}/stat")
        if status.exists():
            # proc(5): utime and stime are fields 14 and 15; the name, field 2, may contain spaces.
            fields = status.read_text().rpartition(")")[2].split()
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def _peak_mb() -> float:
    """The largest memory of this process so far; 0 if not on Linux."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text() if status.exists() else "")
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def main(rows: int) -> dict[str, Any]:
    """Plan the file as an account of its own, and confirm the plan."""
    user = User.objects.create(email=f"i{rows}@example.com", email_key=f"i{rows}@example.com")
    file, choices = io.BytesIO(file_of(rows)), Choices(as_new_trip=True)
    stored, plan = _measured(lambda: plan_import(user, file, choices))
    taken = stored.plan.counts["expense"]
    if taken != rows:
        raise SystemExit(f"{taken} of {rows} rows would be taken.")
    done, confirmed = _measured(lambda: confirm(stored.pk, user))
    if done.trip.expenses.count() != rows:
        raise SystemExit(f"Not {rows} expenses were recorded.")
    return {"plan": plan, "confirm": confirmed}


if __name__ == "__main__":
    found = main(int(sys.argv[1]))
    sys.stdout.write(json.dumps(found))
