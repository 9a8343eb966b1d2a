"""Measures the search of all trips, as the caller's trips grow.

The same word is searched in a W(n) of each size. The search reads at most 1,000 rows of each type,
so its time must not grow with the trip beyond that.
"""

import argparse
import sys
from itertools import repeat

from benchmarks.client import Request, ask, play
from benchmarks.closing import say
from benchmarks.operations import log_in_as
from benchmarks.report import machine, sizes_in
from benchmarks.servers import Home, Server, home

#: A run fails if the largest trip takes so many times as long as the middle one.
_MOST_GROWTH = 3.0
_SECONDS = 3
#: One that every expense has, and one that none has.
_WORDS = {"every expense": "expense", "none": "nowhere"}


def measure(here: Home, server: Server, sizes: list[int]) -> int:
    """Print a table; 1 if a goal was missed."""
    say(f"{here.title}; {machine()}\n")
    say("| Found | expenses | p50 ms | p95 ms | growth |\n| --- | ---: | ---: | ---: | ---: |")
    missed = []
    for name, word in _WORDS.items():
        times: list[float] = []
        for size in sizes:
            token = ask(server.port, log_in_as(size, 0)).data["token"]
            request = Request("GET", f"/api/search?q={word}", token)
            found = len(ask(server.port, request).data["items"])
            if bool(found) is (name == "none"):
                raise SystemExit(f"{word} was found {found} times.")
            leg = play(server.port, repeat(request), clients=1, seconds=_SECONDS, at_least=20)
            times.append(leg.p50_ms)
            growth = times[-1] / times[max(0, len(times) - 2)]
            say(f"| {name} | {size:,} | {leg.p50_ms:.1f} | {leg.p95_ms:.1f} | {growth:.1f} |")
        if len(times) > 1 and times[-1] / times[-2] > _MOST_GROWTH:
            missed.append(name)
    say(f"\n{len(missed)} goals were missed. {', '.join(missed)}")
    return int(bool(missed))


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.searching", description=__doc__)
    parser.add_argument("--sizes", default="100,1000,10000", help="expenses in each trip")
    parser.add_argument("--sqlite", action="store_true", help="on SQLite, not on PostgreSQL")
    chosen = parser.parse_args(args)
    sizes = sizes_in(chosen.sizes, parser)
    with home(sqlite=chosen.sqlite) as here:
        here.fill(sizes)
        with here.service() as server:
            return measure(here, server, sizes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
