"""Recurring expenses whose recorders die."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from chaos.environment import Environment
from chaos.writers import Journal

_RECURRENCES, _DAYS = 4, 60
_RECORDERS, _KILLS = 3, 4
_DONE_SECONDS = 120


def recorders_are_killed(environment: Environment) -> Journal:
    """F42: three recorders at once are killed while they record; each date is recorded once."""
    scene, service = environment.scene, environment.service
    first = datetime.now(UTC).date() - timedelta(days=_DAYS - 1)
    path, headers = f"/trips/{scene.trip_id}", {"Authorization": f"Bearer {scene.tokens[0]}"}
    expense = {"amount": 10, "splitType": "EQUAL", "participantUserIds": scene.user_ids}
    rule = {"rule": f"FREQ=DAILY;COUNT={_DAYS}", "startsOn": first.isoformat()}
    with httpx.Client(base_url=f"{scene.url}/api", timeout=30, headers=headers) as http:

        def page(**query: Any) -> Any:
            query |= {"search": "Rent", "pageSize": 100}
            return http.get(f"{path}/expenses", params=query).raise_for_status().json()

        with environment.load(timeout_seconds=30) as journal:
            for number in range(_RECURRENCES):
                body = {**rule, "expense": {**expense, "description": f"Rent {number}"}}
                http.post(f"{path}/recurring", json=body).raise_for_status()
            killed = []
            for _kill in range(_KILLS):
                recorders = [_start_recorder(service.environment) for _one in range(_RECORDERS)]
                before, until = page()["total"], time.monotonic() + _DONE_SECONDS
                while page()["total"] == before and time.monotonic() < until:
                    time.sleep(0.05)
                for recorder in recorders:
                    os.killpg(recorder.pid, signal.SIGKILL)
                    recorder.wait()
                killed.append(page()["total"])
            environment.require(
                0 < killed[0] < killed[-1] < _RECURRENCES * _DAYS, f"recorded at kills: {killed}"
            )
            recorders = [_start_recorder(service.environment) for _one in range(_RECORDERS)]
            until = time.monotonic() + _DONE_SECONDS
            while page()["total"] < _RECURRENCES * _DAYS and time.monotonic() < until:
                time.sleep(0.5)
            for recorder in recorders:
                recorder.terminate()
                recorder.wait()
            journal.mark()
        pages = range(1, _RECURRENCES * _DAYS // 100 + 2)
        rows = [row for number in pages for row in page(page=number)["items"]]
    found = Counter((row["description"], row["expenseDate"]) for row in rows)
    days = [(first + timedelta(days=day)).isoformat() for day in range(_DAYS)]
    wanted = Counter((f"Rent {number}", day) for number in range(_RECURRENCES) for day in days)
    environment.require(found == wanted, f"{wanted - found} missing, {found - wanted} too many")
    environment.note(f"{found.total()} dates, each once; recorded at the kills: {killed}")
    return journal


def _start_recorder(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "manage.py", "record_recurring", "--watch"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=environment, start_new_session=True, **quiet)
