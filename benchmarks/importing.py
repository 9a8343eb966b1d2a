"""Measures how long it takes to plan a file of so many expenses, and to confirm the plan.

Each file is imported by a process of its own, as `manage.py import_trip` does.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.closing import say
from benchmarks.report import machine, sizes_in
from benchmarks.servers import Home, home

#: A run fails above these: the processor time for a row of a large file divided by that of the
#: smallest (other processes slow down a clock, but not this), statements per hundred rows, and the
#: memory of the process that plans the largest file.
_MOST_GROWTH, _MOST_STATEMENTS, _MOST_MB = 1.5, 8.0, 200
_LEAST_ROWS = 100


def measure(here: Home, sizes: list[int]) -> int:
    """Import a file of each size; 1 if a goal was missed, or if the audit finds a difference."""
    here.environment.update({"QUOTA_EXPENSES": "1000000", "QUOTA_CHANGES": "1000000"})
    say(f"{here.title}; {machine()}")
    found = {size: _import(here, size) for size in sizes}
    audit = here.run("manage.py", "audit_ledger")
    say(f"\n{table(found)}\n")
    missed = list(_missed(found))
    say(f"{len(missed)} goals were missed. {' '.join(missed)}")
    say(f"Audit: {(audit.stdout + audit.stderr).strip()}")
    return int(bool(missed) or audit.returncode != 0)


def _import(here: Home, size: int) -> dict[str, dict[str, float]]:
    printed = here.must("-m", "benchmarks.one_import", str(size))
    here.analyse()
    done: dict[str, dict[str, float]] = json.loads(printed)
    return done


def table(found: dict[int, dict[str, Any]]) -> str:
    """A row for each size and step; `growth` is the processor time per row, by the smallest's."""
    lines = [["Step", "rows", "seconds", "ms per row", "statements per 100 rows", "MB", "growth"]]
    lines.append(["---", *["---:"] * 6])
    for step in ("plan", "confirm"):
        for size, steps in found.items():
            if took := steps.get(step):
                seconds, statements, mb = took["seconds"], took["statements"], took["mb"]
                cells = [f"{seconds:.2f}", f"{seconds * 1000 / size:.2f}"]
                cells += [f"{statements * 100 / size:.2f}", f"{mb:.0f}"]
                lines.append([step, f"{size:,}", *cells, f"{_growth(found, step, size):.2f}"])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _growth(found: dict[int, dict[str, Any]], step: str, size: int) -> float:
    per_row = {n: found[n][step]["processor_seconds"] / n for n in (min(found), size)}
    return per_row[size] / per_row[min(found)]


def _missed(found: dict[int, dict[str, Any]]) -> Iterator[str]:
    """What is above the goals."""
    for size, steps in found.items():
        for step, took in steps.items():
            statements = took["statements"] * 100 / size
            if size > min(found) and statements > _MOST_STATEMENTS:
                yield f"{step}({size:,}) takes {statements:.1f} statements per hundred rows."
            if (growth := _growth(found, step, size)) > _MOST_GROWTH:
                yield f"A row of {step}({size:,}) takes {growth:.2f} times the processor time."
        if (most_mb := steps["plan"]["mb"]) > _MOST_MB:
            yield f"plan({size:,}) used {most_mb:.0f} MB."


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.importing", description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000", help="expenses in each file")
    parser.add_argument("--sqlite", action="store_true", help="on SQLite, not on PostgreSQL")
    chosen = parser.parse_args(args)
    sizes = sizes_in(chosen.sizes, parser)
    if sizes[0] < _LEAST_ROWS:
        parser.error(f"sizes must be at least {_LEAST_ROWS}")
    with home(sqlite=chosen.sqlite) as here:
        return measure(here, sizes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
