"""A chapter of a soak: new people, new trips, sixteen threads, and then the judge."""

import itertools
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass

from django.core.management import get_commands

from tests.server import Server
from tests.soak import log
from tests.soak.admin_client import AdminClient
from tests.soak.journal import Journal
from tests.soak.judge import Finding, Judge
from tests.soak.player import Player
from tests.soak.world import Client, World

THREADS = 16
_CHAPTER_SECONDS = 45
_NO_OWNER = "it has members but no owner who can log in"


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


def play_chapters(server: Server, seconds: float, seed: str) -> Iterator[Chapter]:
    """Play for so many seconds, chapter after chapter, until one has findings."""
    log.install(server.environment["DATABASE_URL"])
    # Without them, an amount in another currency is refused.
    if "load_rates" in get_commands():
        server.manage("load_rates")
    deadline = time.monotonic() + seconds
    for number in itertools.count(1):
        left = deadline - time.monotonic()
        # What is left over is too short for a trip to grow up in.
        if left < min(seconds, _CHAPTER_SECONDS) / 3:
            return
        chapter = play(server, min(left, _CHAPTER_SECONDS), f"{seed}.{number}")
        yield chapter
        if chapter.findings:
            return


def play(server: Server, seconds: float, seed: str) -> Chapter:
    """Play for so many seconds on a server with a log, which is empty again afterwards."""
    journal = Journal()
    with ExitStack() as stack:
        admin_client = stack.enter_context(closing(AdminClient(server, journal)))
        clients = [
            stack.enter_context(closing(Client(server.url, journal))) for _at in range(THREADS)
        ]
        world = World(clients[0], seed)
        deadline = time.monotonic() + seconds
        players = [
            Player(world, client, journal, admin_client, f"{seed}-{at}", deadline)
            for at, client in enumerate(clients)
        ]
        with ThreadPoolExecutor(THREADS) as threads:
            for played in [threads.submit(player.play) for player in players]:
                played.result()
        entries = log.taken(server.environment["DATABASE_URL"])
    judge = Judge(journal, entries)
    findings = [*judge.run(), *audit(server)]
    statuses = Counter(request.status for request in journal.requests)
    return Chapter(statuses, judge.judged, findings)


def audit(server: Server) -> Iterator[Finding]:
    """The differences that the audit finds, except for the trips of owners who were deactivated."""
    try:
        server.manage("audit_ledger")
    except subprocess.CalledProcessError as error:
        found = [line for line in error.stdout.splitlines() if not line.endswith(_NO_OWNER)]
        if found or "differences in" not in error.stderr:
            yield Finding("The audit finds differences.", [], [*found, error.stderr])
