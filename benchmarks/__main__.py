"""Measures the service against the baseline: `python -m benchmarks --help`."""

import argparse
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from itertools import islice, repeat

from benchmarks.client import Answer, Leg, Request, ask, play
from benchmarks.data import PASSWORD
from benchmarks.operations import OPERATIONS, Operation, World
from benchmarks.reference import Reference
from benchmarks.report import Row, above, machine, sizes_in, table
from benchmarks.servers import MOST_MB, PROCESSES, Home, Server, home

CROWD = 8
#: Servers that get one request at a time: their columns show no more, and in a crowd some of their
#: requests would wait longer than a server lets them.
_ALONE = {"uncompiled"}
_LEAST_REQUESTS = 5
#: Slices of one measurement. Writes have fewer, because each leg pays some of the open splits.
_READ_SLICES, _WRITE_SLICES = 10, 3
_MOST_NAMED = 5
_MIXED_AT_ONCE = 200
#: A run fails if a worker ever uses more.
LIMIT_MB = 150
#: A smaller trip has too few open splits for so many rounds.
_SMALLEST, _MOST_ROUNDS = 20, 8
#: Pages of the widest kind, from a trip with so many open debts: each has as many splits as a page
#: may have. These are more debts than a trip may have, which makes no difference to reading.
_WIDE_PAGES, _WIDE_DEBTS = 40, 100_000


class Bench:
    """One run: the servers, the trips of each size, and the results so far."""

    def __init__(
        self, servers: dict[str, Server], sizes: list[int], *, seconds: float, rounds: int
    ) -> None:
        self.servers, self.seconds, self.rounds = servers, seconds, rounds
        self.worlds = [World.find(size, partial(ask, servers["service"].port)) for size in sizes]
        self.references = {size: Reference(size) for size in sizes}
        self.rows: dict[tuple[str, int], Row] = {}
        self.checked = 0
        self.wrong: list[str] = []
        self._right: dict[str, bytes] = {}

    def measure(self, operations: list[Operation]) -> None:
        """Measure all reads, round by round, then all writes, which make the trips grow."""
        for writes in (False, True):
            chosen = [operation for operation in operations if operation.writes is writes]
            for operation in chosen:
                for world in self.worlds:
                    self.rows[operation.name, world.size] = Row()
                    self._compare(operation, world)
            for turn in range(self.rounds if chosen else 0):
                say(f"Round {turn + 1}: {', '.join(operation.name for operation in chosen)}")
                for operation in chosen:
                    self._round(operation, turn)

    def mix(self, operations: list[Operation], count: int) -> None:
        """Send `count` requests to the service, alternating between operations and sizes."""
        sources = [operation.requests(world) for operation in operations for world in self.worlds]
        requests = islice(_by_turns(sources), count)
        while some := list(islice(requests, _MIXED_AT_ONCE)):
            port = self.servers["service"].port
            leg = play(port, iter(some), clients=CROWD, seconds=0, at_least=len(some))
            self.checked += len(leg.answers)
            for answer in leg.answers:
                if answer.status not in {200, 201}:
                    self.wrong.append(f"mixed: {answer.request.path}: {answer.status}")

    def _round(self, operation: Operation, turn: int) -> None:
        """Alternate between all sizes and servers in short slices.

        The speed of a machine varies; compared measurements are only seconds apart.
        """
        slices = _WRITE_SLICES if operation.writes else _READ_SLICES
        for clients in (1, CROWD):
            for piece in range(slices):
                for world in self.worlds:
                    self._each(operation, world, clients, (turn + piece) % 2 == 0, slices)

    def _each(
        self, operation: Operation, world: World, clients: int, is_baseline_last: bool, slices: int
    ) -> None:
        row = self.rows[operation.name, world.size]
        # Distribute the remaining open splits over the remaining legs of all servers.
        done = len(row.service.alone) + len(row.service.crowd)
        most = len(world.open_splits) // (len(self.servers) * (2 * self.rounds * slices - done))
        for name in sorted(self.servers, reverse=is_baseline_last):
            if clients > 1 and name in _ALONE:
                continue
            side = row.sides[name]
            requests = operation.requests(world)
            if operation.writes:
                requests = islice(requests, max(most, 1))
            leg = self._leg(name, operation, world, requests, clients, self.seconds / slices)
            (side.alone if clients == 1 else side.crowd).append(leg)

    def _leg(
        self,
        name: str,
        operation: Operation,
        world: World,
        requests: Iterator[Request],
        clients: int,
        seconds: float,
    ) -> Leg:
        server = self.servers[name]
        before = server.cpu_seconds()
        leg = play(
            server.port,
            requests,
            clients=clients,
            seconds=seconds,
            at_least=max(_LEAST_REQUESTS, clients),
        )
        leg.cpu_seconds = server.cpu_seconds() - before
        for answer in leg.answers:
            self._check(name, operation, world, answer)
        leg.answers.clear()
        return leg

    def _compare(self, operation: Operation, world: World) -> None:
        """Warm up the servers; their read responses must be equal, field by field."""
        answers = {}
        for name, server in self.servers.items():
            requests = islice(operation.requests(world), CROWD)
            clients = 1 if name in _ALONE else CROWD
            crowd = play(server.port, requests, clients=clients, seconds=0, at_least=CROWD)
            answers[name] = ask(server.port, next(operation.requests(world)))
            for answer in (*crowd.answers, answers[name]):
                self._check(name, operation, world, answer)
        is_read = not operation.writes and answers["service"].request.method == "GET"
        for name, answer in answers.items():
            if is_read and answer.data != answers["service"].data:
                self._note(f"{name} differs", operation, world, answer)

    def _check(self, name: str, operation: Operation, world: World, answer: Answer) -> None:
        """Check against the reference; for equal responses to equal requests only once."""
        self.checked += 1
        key = f"{name} {answer.request.path}"
        if answer.status == 200 and self._right.get(key) == answer.body:
            return
        try:
            is_right = operation.is_right(self.references[world.size], world, answer)
        except (ValueError, KeyError, TypeError):
            is_right = False
        if not is_right:
            self._note(name, operation, world, answer)
        elif answer.request.method == "GET":
            self._right[key] = answer.body

    def read_wide_pages(self) -> float:
        """Read pages of 200 splits an expense, one after the other; the size of one in MB."""
        port = self.servers["service"].port
        body = {"email": f"d{_WIDE_DEBTS}-0@example.com", "password": PASSWORD}
        token = ask(port, Request("POST", "/api/users/login", body=body)).data["token"]
        [trip] = ask(port, Request("GET", "/api/trips/my-trips", token)).data["items"]
        wide = Request("GET", f"/api/trips/{trip['id']}/expenses?pageSize=100", token)
        leg = play(port, repeat(wide, _WIDE_PAGES), clients=1, seconds=0, at_least=_WIDE_PAGES)
        self.checked += len(leg.answers)
        self.wrong += [
            f"a wide page: {answer.status} {answer.body[:200]!r}"
            for answer in leg.answers
            if answer.status != HTTPStatus.OK or answer.body != leg.answers[0].body
        ]
        return len(leg.answers[0].body) / 1e6

    def _note(self, what: str, operation: Operation, world: World, answer: Answer) -> None:
        where = f"{operation.name}({world.size:,}), {answer.request.method} {answer.request.path}"
        self.wrong.append(f"{what}: {where}: {answer.status} {answer.body[:200]!r}")


def _by_turns(sources: list[Iterator[Request]]) -> Iterator[Request]:
    """One request of each source in turn, until all sources are exhausted."""
    while sources:
        for source in tuple(sources):
            request = next(source, None)
            if request is None:
                sources.remove(source)
            else:
                yield request


def say(line: str = "") -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def options(args: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sizes", default="100,1000,10000", help="expenses in each trip")
    parser.add_argument("--seconds", type=float, default=1.0, help="duration of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds")
    parser.add_argument(
        "--requests", type=int, default=0, help="mixed requests at the end, to measure memory"
    )
    parser.add_argument("--sqlite", action="store_true", help="on SQLite, not on PostgreSQL")
    parser.add_argument(
        "--pooler", action="store_true", help="both servers connect through PgBouncer"
    )
    parser.add_argument(
        "--same-worker", action="store_true", help="the service's gunicorn worker for both servers"
    )
    parser.add_argument(
        "--only", metavar="OPERATION", choices=OPERATIONS, nargs="+", help="only these"
    )
    parser.add_argument(
        "--profile", metavar="OPERATION", choices=OPERATIONS, help="profile this one instead"
    )
    chosen = parser.parse_args(args)
    chosen.sizes = sizes_in(chosen.sizes, parser)
    if chosen.sizes[0] < _SMALLEST or not 1 <= chosen.rounds <= _MOST_ROUNDS:
        parser.error(f"sizes must be at least {_SMALLEST}, rounds at most {_MOST_ROUNDS}")
    if chosen.sqlite and chosen.pooler:
        parser.error("SQLite has no pooler")
    return chosen


def main(args: list[str]) -> int:
    """Run the benchmark; 1 after a wrong response, a difference, or above `LIMIT_MB`."""
    chosen = options(args)
    with home(sqlite=chosen.sqlite, pooler=chosen.pooler) as here:
        if chosen.profile:
            here.fill(chosen.sizes[-1:])
            return _profile(here, chosen.profile, chosen.sizes[-1])
        here.fill(chosen.sizes)
        here.must("-m", "benchmarks.open_debts", str(_WIDE_DEBTS))
        here.analyse()
        operations = [OPERATIONS[name] for name in chosen.only or OPERATIONS]
        say(f"{here.title}; {machine()}")
        say(
            f"Rounds: {chosen.rounds}; {chosen.seconds:g} s per measurement, {PROCESSES} processes "
            f"per server, alternating between service, uncompiled service and baseline"
        )
        baseline_server = here.baseline(has_same_worker=chosen.same_worker)
        with (
            here.service() as service,
            here.service(COMPILED_QUERIES="false") as uncompiled,
            baseline_server as baseline,
        ):
            servers = {"service": service, "uncompiled": uncompiled, "baseline": baseline}
            bench = Bench(servers, chosen.sizes, seconds=chosen.seconds, rounds=chosen.rounds)
            bench.measure(operations)
            bench.mix(operations, chosen.requests)
            wide_mb = bench.read_wide_pages()
            most_mb, now_mb = service.memory_mb("VmHWM"), service.memory_mb("VmRSS")
        audit = here.run("manage.py", "audit_ledger")
    _report(bench, operations, most_mb)
    say(f"{_WIDE_PAGES} pages of {wide_mb:.1f} MB were read one after the other.")
    say(f"A worker of the service used at most {most_mb:.0f} MB, and {now_mb:.0f} at the end.")
    say(f"Audit: {(audit.stdout + audit.stderr).strip()}")
    return int(bool(bench.wrong) or audit.returncode != 0 or most_mb > LIMIT_MB)


def _report(bench: Bench, operations: list[Operation], most_mb: float) -> None:
    """Print the table, the goals that were missed, and the wrong answers."""
    say(f"\n{table(bench.rows)}\n")
    goals = {operation.name: operation.goal for operation in operations}
    flat = {operation.name for operation in operations if not operation.grows}
    for line in above(bench.rows, goals, flat):
        say(f"Goal missed: {line}.")
    if most_mb > MOST_MB:
        say(f"Goal missed: a worker used more than {MOST_MB} MB.")
    say(f"At the end: {machine()}")
    say(f"{bench.checked:,} answers checked, {len(bench.wrong)} wrong.")
    for line in bench.wrong[:_MOST_NAMED]:
        say(line)


def _profile(here: Home, operation: str, size: int) -> int:
    command = [sys.executable, "-m", "benchmarks.profiling", operation, str(size)]
    return subprocess.run(command, env=here.environment, check=False).returncode


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))  # so that the clean-up runs
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
