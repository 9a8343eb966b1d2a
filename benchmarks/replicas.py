"""Measures reads with standbys: `python -m benchmarks.replicas`; see README.md.

A primary and two standbys run on this machine. Three services alternate: without
`DATABASE_REPLICA_URL`, with one standby, and with both. The processor time of each PostgreSQL
shows where the work of the reads went, however few cores the machine has.
"""

import argparse
import statistics
import sys
from collections import defaultdict
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.client import ask, play
from benchmarks.operations import OPERATIONS, Operation, World
from benchmarks.reference import Reference
from benchmarks.report import machine
from benchmarks.servers import PROCESSES, Home, Server, migrated
from chaos.cluster.site import primary, run, standby, wait_until
from tests.postgres import Cluster

READS = ("expense", "page", "balances", "settle-up")
CLIENTS = 8
_SIZE = 1_000
_HEAD = ("Operation", "standbys", "req/s", "service CPU ms", "primary CPU ms", "standbys CPU ms")


def cpu_seconds(cluster: Cluster) -> float:
    """Processor time of its processes so far."""
    parent = int((cluster.home / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    times = (Path("/proc", pid, "schedstat").read_text().split()[0] for pid in children)
    return sum(int(time) for time in times) / 1e9


def of_several(urls: list[str]) -> dict[str, str]:
    """The setting of a service that reads on these standbys."""
    if not urls:
        return {}
    hosts = ",".join(urlsplit(url).netloc.rpartition("@")[2] for url in urls)
    first = urlsplit(urls[0])
    login = first.netloc.rpartition("@")[0]
    query = "load_balance_hosts=random" if len(urls) > 1 else ""
    together = first._replace(netloc=f"{login}@{hosts}", query=query)
    return {"DATABASE_REPLICA_URL": together.geturl()}


class Legs:
    """The measurements of one operation with one number of standbys."""

    def __init__(self) -> None:
        self.per_second: list[float] = []
        self.cpu_ms: dict[str, list[float]] = defaultdict(list)

    def cells(self) -> list[str]:
        times = [
            statistics.median(self.cpu_ms[name]) for name in ("service", "primary", "standbys")
        ]
        return [f"{statistics.median(self.per_second):.0f}", *(f"{time:.2f}" for time in times)]


class Comparison:
    """Sends the same reads to each of the services, and adds up what every server works."""

    def __init__(self, services: list[Server], clusters: list[Cluster], seconds: float) -> None:
        self.services, self.clusters, self.seconds = services, clusters, seconds
        self.world = World.find(_SIZE, partial(ask, services[0].port))
        self.reference = Reference(_SIZE)
        self.wrong = 0

    def measure(self, operation: Operation, service: Server, legs: Legs) -> None:
        before = self._work(service)
        requests = operation.requests(self.world)
        leg = play(service.port, requests, clients=CLIENTS, seconds=self.seconds, at_least=CLIENTS)
        after = self._work(service)
        self.wrong += sum(
            not operation.is_right(self.reference, self.world, answer) for answer in leg.answers
        )
        legs.per_second.append(leg.per_second)
        for name, seconds in after.items():
            legs.cpu_ms[name].append((seconds - before[name]) * 1000 / len(leg.answers))

    def _work(self, service: Server) -> dict[str, float]:
        own, *others = map(cpu_seconds, self.clusters)
        return {"service": service.cpu_seconds(), "primary": own, "standbys": sum(others)}


def _caught_up(primary: Cluster, standby: Cluster) -> bool:
    def position(cluster: Cluster, function: str) -> str:
        return str(run(cluster.url, f"SELECT {function}()"))

    return position(primary, "pg_current_wal_lsn") == position(standby, "pg_last_wal_replay_lsn")


def main(arguments: list[str]) -> int:
    """Print the table; 1 if a response was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replicas", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="duration of each measurement")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds")
    chosen = parser.parse_args(arguments)
    with ExitStack() as stack:
        first = stack.enter_context(primary())
        home = migrated("", first.url, {})
        home.fill([_SIZE])
        others = [stack.enter_context(standby(first, f"standby{n}")) for n in (1, 2)]
        for other in others:
            wait_until(partial(_caught_up, first, other), "replication")
        homes = [
            Home("", home.environment, of_several([other.url for other in others[:count]]))
            for count in range(len(others) + 1)
        ]
        services = [stack.enter_context(each.service()) for each in homes]
        comparison = Comparison(services, [first, *others], chosen.seconds)
        found: dict[tuple[str, int], Legs] = defaultdict(Legs)
        # The first turn warms up.
        for turn in range(chosen.rounds + 1):
            for name in READS:
                for at in range(len(services)):
                    count = (at + turn) % len(services)
                    legs = found[name, count] if turn else Legs()
                    comparison.measure(OPERATIONS[name], services[count], legs)
    sys.stdout.write(f"| {' | '.join(_HEAD)} |\n| --- |{' ---: |' * (len(_HEAD) - 1)}\n")
    for (name, count), legs in sorted(found.items()):
        sys.stdout.write(f"| {name} | {count} | {' | '.join(legs.cells())} |\n")
    sys.stdout.write(
        f"\n{CLIENTS} clients, {PROCESSES} processes for each service, a trip with {_SIZE:,} "
        f"expenses; {comparison.wrong} responses wrong. {machine()}\n"
    )
    return int(bool(comparison.wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
