"""Measures an itinerary of 300 activities against the baseline, on PostgreSQL.

The trip has ten days of thirty activities; every third has an expense.
"""

import argparse
import sys
from contextlib import ExitStack
from itertools import repeat

from benchmarks.client import Leg, Request, ask, play
from benchmarks.closing import say
from benchmarks.data import PASSWORD
from benchmarks.report import machine
from benchmarks.servers import Server, home

_DAYS, _A_DAY = 10, 30
_SLICES, _SECONDS = 10, 0.5
#: The goal for the time of the service by that of the baseline.
_GOAL = 1.6


def _plan(port: int) -> Request:
    """Make the trip; the request that reads its itinerary."""
    account = {"email": "plans@example.com", "password": PASSWORD}
    made = ask(port, Request("POST", "/api/users/register", body=account)).data
    token = made["token"]
    trip = {
        "title": "Planned", "destination": "Lisbon", "currency": "EUR",
        "startDate": "2026-05-01", "endDate": f"2026-05-{_DAYS:02}",
    }  # fmt: skip
    trip_id = ask(port, Request("POST", "/api/trips", token, trip)).data["id"]
    path = f"/api/trips/{trip_id}"
    for number in range(_DAYS * _A_DAY):
        day = f"2026-05-{number // _A_DAY + 1:02}"
        activity = {
            "title": f"Activity {number}", "date": day, "startTime": "09:30",
            "durationMinutes": 45, "location": "Praça do Comércio", "completed": not number % 2,
        }  # fmt: skip
        added = ask(port, Request("POST", f"{path}/activities", token, activity)).data
        if number % 3 == 0:
            expense = {
                "description": "Tickets", "amount": 12.5, "expenseDate": day,
                "splitType": "EQUAL", "participantUserIds": [made["user"]["id"]],
                "activityId": added["id"],
            }  # fmt: skip
            ask(port, Request("POST", f"{path}/expenses", token, expense))
    return Request("GET", f"{path}/itinerary", token)


def measure(servers: dict[str, Server]) -> None:
    """Print a table. Ends the benchmark if the answers differ."""
    request = _plan(servers["service"].port)
    answers = {name: ask(server.port, request) for name, server in servers.items()}
    if answers["service"].data != answers["baseline"].data:
        raise SystemExit("The answers of the service and of the baseline are different.")
    legs: dict[str, list[Leg]] = {name: [] for name in servers}
    for _slice in range(_SLICES):
        for name, server in servers.items():
            leg = play(server.port, repeat(request), clients=1, seconds=_SECONDS, at_least=5)
            legs[name].append(leg)
    p50_ms = {
        name: sorted(leg.p50_ms for leg in of_one)[_SLICES // 2] for name, of_one in legs.items()
    }
    ratio = p50_ms["service"] / p50_ms["baseline"]
    kilobytes = len(answers["service"].body) / 1000
    say(f"\n| {_DAYS * _A_DAY} activities, {kilobytes:.0f} kB | p50 ms |\n| --- | ---: |")
    for name, value in p50_ms.items():
        say(f"| {name} | {value:.2f} |")
    say(f"| ratio; the goal is {_GOAL} | {ratio:.2f} |")


def main(args: list[str]) -> None:
    argparse.ArgumentParser(prog="python -m benchmarks.itinerary", description=__doc__).parse_args(
        args
    )
    with home(sqlite=False) as here, ExitStack() as stack:
        say(f"{here.title}; {machine()}")
        service, baseline = here.service(), here.baseline()
        measure(
            {"service": stack.enter_context(service), "baseline": stack.enter_context(baseline)}
        )


if __name__ == "__main__":
    main(sys.argv[1:])
