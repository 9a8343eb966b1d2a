"""`make cluster`: several hosts on one machine, under load and hurt.

The exit status is 1 if a part does not do what its docstring in `parts.py` says.
"""

import argparse
import sys
import time
from dataclasses import replace

from chaos.cluster.parts import FULL, PARTS, SHORT
from chaos.cluster.report import Row, table
from chaos.environment import Failed
from chaos.outcome import concluded, say


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make cluster", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--short", action="store_true", help="a fraction of the load")
    parser.add_argument("--only", default=",".join(PARTS), help="comma-separated: pooler,deploy")
    options = parser.parse_args()
    rows: list[Row] = []
    failures, not_run = [], []
    started = time.monotonic()
    for name in options.only.split(","):
        say(f"{name}: {(PARTS[name].__doc__ or '').partition(chr(10))[0]}")
        try:
            found = PARTS[name](SHORT if options.short else FULL)
            rows += [replace(row, title=f"{name} {row.title}".strip()) for row in found]
        except (Failed, AssertionError) as failure:
            failures.append(f"{name}: {failure}")
        except LookupError as reason:
            not_run.append(f"{name}: {reason}")
    say("\n" + table(rows))
    return concluded(rows, "rows", started, not_run=not_run, failures=failures)


if __name__ == "__main__":
    sys.exit(main())
