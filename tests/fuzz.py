"""Generated requests against the real server, for as long as one likes: `python -m tests.fuzz`.

MINUTES says how long (10); whatever else is given goes to schemathesis. Every check that it has is
on but `positive_data_acceptance`: some rules cannot be said in a schema (a trip ends after it
starts, parts add up), so a body that fits the schema may still be refused. The exit status is that
of schemathesis, or 1 if the ledger is wrong afterwards.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from tests.server import Server, running_server
from tests.trips.bodies import lisbon

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
#: They end the one log-in that the run has.
NOT_CALLED = ("logout", "/me/sessions", "/api/users/me$")
ACCOUNT = {"email": "fuzz@example.com", "password": "four-green-suitcases"}


def log_in_with_a_trip(server: Server) -> str:
    """The token of somebody with a trip and money in it, so that ids lead somewhere."""
    with httpx.Client(base_url=f"{server.url}/api", timeout=30) as http:

        def made(path: str, body: Any) -> Any:
            answer = http.post(path, json=body)
            answer.raise_for_status()
            return answer.json()

        friend = made("/users/register", {**ACCOUNT, "email": "friend@example.com"})["user"]["id"]
        login = made("/users/register", ACCOUNT)
        http.headers["Authorization"] = f"Bearer {login['token']}"
        me, trip = login["user"]["id"], made("/trips", lisbon())["id"]
        made(f"/trips/{trip}/members", {"userId": friend, "role": "EDITOR"})
        dinner = {"description": "Dinner", "amount": 30, "expenseDate": "2026-05-15"}
        people = {"splitType": "EQUAL", "participantUserIds": [me, friend]}
        made(f"/trips/{trip}/expenses", dinner | people)
        handed = {"fromUserId": friend, "toUserId": me, "amount": 5}
        made(f"/trips/{trip}/settlements", handed)
        return str(login["token"])


def main(arguments: list[str]) -> int:
    seconds = int(float(os.environ.get("MINUTES", "10")) * 60)
    with running_server(DEBUG="false", LOG_LEVEL="ERROR") as server:
        token = log_in_with_a_trip(server)
        run = [
            *(str(Path(sys.executable).with_name("st")), "--config-file", str(CONFIGURATION)),
            *("run", f"{server.url}/api/schema"),
            *("--header", f"Authorization: Bearer {token}", "--max-time", str(seconds)),
            *("--workers", "2", "--checks", "all", "--continue-on-failure"),
            *("--exclude-checks", "positive_data_acceptance", "--generation-database", "none"),
            *("--exclude-path-regex", "|".join(NOT_CALLED), "--warnings", "off", *arguments),
        ]
        status = subprocess.run(run, check=False).returncode
        server.manage("audit_ledger")
    return status


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
    sys.exit(main(sys.argv[1:]))
