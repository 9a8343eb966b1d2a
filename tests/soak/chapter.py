"""A chapter of a soak: new people, new trips, sixteen threads, and then the judge."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass

from tests.server import Server
from tests.soak import log
from tests.soak.journal import Journal
from tests.soak.judge import Finding, Judge
from tests.soak.office import Office
from tests.soak.player import Player
from tests.soak.world import Client, World

THREADS = 16


@dataclass
class Chapter:
    """What happened: how many requests ended how, how many entries there are, what is wrong."""

    statuses: Counter[int | None]
    entries: int
    findings: list[Finding]

    def __str__(self) -> str:
        statuses = ", ".join(
            f"{count} {status or 'cut'}" for status, count in self.statuses.most_common()
        )
        return f"{self.entries} entries judged; answers: {statuses}"


def play(server: Server, seconds: float, seed: str) -> Chapter:
    """Play for so many seconds on a server with a log, which is empty again in the end."""
    journal = Journal()
    with ExitStack() as stack:
        office = stack.enter_context(closing(Office(server, journal)))
        clients = [
            stack.enter_context(closing(Client(server.url, journal))) for _at in range(THREADS)
        ]
        world = World(clients[0], seed)
        deadline = time.monotonic() + seconds
        players = [
            Player(world, client, journal, office, f"{seed}-{at}", deadline)
            for at, client in enumerate(clients)
        ]
        with ThreadPoolExecutor(THREADS) as threads:
            for played in [threads.submit(player.play) for player in players]:
                played.result()
    judge = Judge(journal, log.taken(server.environment["DATABASE_URL"]))
    findings = judge.run()
    statuses = Counter(request.status for request in journal.requests)
    return Chapter(statuses, judge.judged, findings)
