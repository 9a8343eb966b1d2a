"""Measures clients that wait for changes, and the others beside them.

500 clients, five of each account, have streams of the changes of a trip of their own. Now and then
an expense is recorded in one of the trips, and its five clients are told.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import repeat
from typing import Any, NamedTuple

from benchmarks.client import Request, ask, play
from benchmarks.closing import say
from benchmarks.data import PASSWORD
from benchmarks.report import machine
from benchmarks.servers import Home, Server, home

_ACCOUNTS, _STREAMS = 100, 5
_CHANGES = 30
_OTHERS_SECONDS = 10
#: A run fails above these: milliseconds until a change is told; the 99th percentile of others'
#: requests; and the memory of a worker.
_MOST_TOLD_MS, _MOST_OTHERS_MS, _MOST_MB = 300, 50, 150


class Traveller(NamedTuple):
    """An account and its trip."""

    id: int
    token: str
    trip: str

    @classmethod
    def of(cls, port: int, number: int) -> "Traveller":
        account = {"email": f"waits{number}@example.com", "password": PASSWORD}
        made = ask(port, Request("POST", "/api/users/register", body=account)).data
        trip = {
            "title": "Waiting", "destination": "Lisbon", "currency": "EUR",
            "startDate": "2026-05-14", "endDate": "2026-05-18",
        }  # fmt: skip
        trip_id = ask(port, Request("POST", "/api/trips", made["token"], trip)).data["id"]
        return cls(made["user"]["id"], made["token"], f"/api/trips/{trip_id}")

    def spend(self, port: int) -> None:
        body = {
            "description": "Boat", "amount": 12.5, "expenseDate": "2026-05-14",
            "splitType": "EQUAL", "participantUserIds": [self.id],
        }  # fmt: skip
        ask(port, Request("POST", f"{self.trip}/expenses", self.token, body))


class Stream:
    """A client's connection."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def event(self) -> float:
        """When the next line with data arrives."""
        while not (await self._reader.readuntil(b"\n")).startswith((b"data:", b"id:")):
            pass
        return time.perf_counter()


@asynccontextmanager
async def _streams(port: int, travellers: list[Traveller]) -> AsyncIterator[list[list[Stream]]]:
    """The streams of each account, of which all wait."""
    rows, writers = [], []
    for traveller in travellers:
        row = []
        for _one in range(_STREAMS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writers.append(writer)
            request = Request("GET", "/api/changes", traveller.token).raw
            writer.write(request.replace(b"\r\n\r\n", b"\r\nAccept: text/event-stream\r\n\r\n"))
            row.append(Stream(reader))
        # Their first event says from where they follow.
        await asyncio.gather(*(stream.event() for stream in row))
        rows.append(row)
    try:
        yield rows
    finally:
        for writer in writers:
            writer.close()


async def _told_ms(port: int, travellers: list[Traveller]) -> tuple[list[float], float]:
    """How long each client waited for each change; and the 99th percentile of others."""
    told = []
    async with _streams(port, travellers) as rows:
        await asyncio.sleep(2)
        pairs = [*zip(travellers, rows, strict=True)]
        for traveller, row in pairs[:: len(pairs) // _CHANGES][:_CHANGES]:
            events = [asyncio.ensure_future(stream.event()) for stream in row]
            await asyncio.to_thread(traveller.spend, port)
            made = time.perf_counter()
            told += [max(0.0, at - made) * 1000 for at in await asyncio.gather(*events)]
            await asyncio.sleep(0.05)
        return told, await asyncio.to_thread(_others_ms, port, travellers[0])


def _others_ms(port: int, traveller: Traveller) -> float:
    requests: Iterator[Request] = repeat(Request("GET", traveller.trip, traveller.token))
    leg = play(port, requests, clients=1, seconds=_OTHERS_SECONDS, at_least=100)
    return _quantile(leg.latencies_ms)


def _quantile(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


def measure(here: Home, server: Server) -> int:
    """Print a table; 1 if a goal was missed."""
    say(f"{here.title}; {machine()}")
    travellers = [Traveller.of(server.port, number) for number in range(_ACCOUNTS)]
    alone = _others_ms(server.port, travellers[0])
    told, beside = asyncio.run(_told_ms(server.port, travellers))
    rows: list[tuple[str, float, float]] = [
        ("told, median ms", statistics.median(told), 0),
        ("told, longest ms", max(told), _MOST_TOLD_MS),
        ("others alone, p99 ms", alone, 0),
        ("others beside them, p99 ms", beside, _MOST_OTHERS_MS),
        ("largest worker, MB", server.memory_mb("VmHWM"), _MOST_MB),
    ]  # fmt: skip
    say(f"\n| {_ACCOUNTS * _STREAMS} waiting clients | | goal |\n| --- | ---: | ---: |")
    for name, value, goal in rows:
        say(f"| {name} | {value:.0f} | {f'{goal:.0f}' if goal else ''} |")
    missed: list[Any] = [name for name, value, goal in rows if goal and value > goal]
    say(f"\n{len(missed)} goals were missed. {', '.join(missed)}")
    return int(bool(missed))


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.waiting", description=__doc__)
    parser.add_argument("--sqlite", action="store_true", help="on SQLite, not on PostgreSQL")
    chosen = parser.parse_args(args)
    with home(sqlite=chosen.sqlite) as here, here.service() as server:
        return measure(here, server)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
