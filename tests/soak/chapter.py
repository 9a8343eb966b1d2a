"""A chapter of a soak: new people, new trips, sixteen threads, and then the judge."""

import itertools
import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass

from django.core.management import get_commands

from tests.server import Server
from tests.soak.admin_client import AdminClient
from tests.soak.judge import Judge, Row
from tests.soak.player import Player
from tests.soak.world import Client, Request, World

THREADS = 16
_CHAPTER_SECONDS = 45
_NO_OWNER = "it has members but no owner who can log in"
#: Writes the journals of all trips from the one with this id.
_JOURNALS = """
import json, sys
from trips.models import JournalEntry
names = ("trip_id", "number", "at", "by_id", "via", "event", "object_id", "stored_changes")
rows = JournalEntry.objects.filter(trip_id__gte=%d).order_by("trip_id", "number")
rows = ((trip, number, at.timestamp(), *row) for trip, number, at, *row in rows.values_list(*names))
json.dump([*rows], sys.stdout)
"""


@dataclass
class Chapter:
    """What happened: how many requests ended how, how many rows there are, what is wrong."""

    statuses: Counter[int | None]
    rows: int
    findings: list[str]

    def __str__(self) -> str:
        statuses = ", ".join(
            f"{count} {status or 'cut'}" for status, count in self.statuses.most_common()
        )
        return f"{self.rows} rows of journals; answers: {statuses}"


def play_chapters(server: Server, seconds: float, seed: str) -> Iterator[Chapter]:
    """Play for so many seconds, chapter after chapter, until one has findings."""
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
    """Play for so many seconds."""
    requests: list[Request] = []
    closed_at: dict[int, float] = {}
    with ExitStack() as stack:
        admin_client = stack.enter_context(closing(AdminClient(server, requests)))
        clients = [
            stack.enter_context(closing(Client(server.url, requests))) for _at in range(THREADS)
        ]
        world = World(clients[0], seed)
        first_trip = world.trips[0].id
        deadline = time.monotonic() + seconds
        players = [
            Player(world, client, admin_client, closed_at, f"{seed}-{at}", deadline)
            for at, client in enumerate(clients)
        ]
        with ThreadPoolExecutor(THREADS) as threads:
            for played in [threads.submit(player.play) for player in players]:
                played.result()
    told = server.manage("shell", "--no-imports", "-c", _JOURNALS % first_trip).stdout
    rows = [Row(*row[:-1], json.loads(row[-1])) for row in json.loads(told)]
    judge = Judge(requests, closed_at, [admin_client.administrator.id])
    findings = [*judge.run(rows), *audit(server)]
    return Chapter(Counter(request.status for request in requests), len(rows), findings)


def audit(server: Server) -> Iterator[str]:
    """The differences that the audit finds, except for the trips of owners who were deactivated."""
    try:
        server.manage("audit_ledger")
    except subprocess.CalledProcessError as error:
        found = [line for line in error.stdout.splitlines() if not line.endswith(_NO_OWNER)]
        if found or "differences in" not in error.stderr:
            yield "\n  ".join(["The audit finds differences.", *found, error.stderr])
