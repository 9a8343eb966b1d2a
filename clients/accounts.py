"""Accounts, keys and balances by our own API, for the stories of programs for Splitwise's API."""

import json
import time
from decimal import Decimal
from typing import Any
from urllib.request import Request, urlopen

SCOPES = ["trips:read", "trips:write", "expenses:read", "expenses:write"]


class Account:
    """A new account with a key for programs."""

    def __init__(self, url: str, name: str) -> None:
        self.url, self.email = url, f"{name.split()[0].lower()}-{time.time_ns()}@example.com"
        body = {"name": name, "email": self.email, "password": "a long password"}
        registered = self.ask("/users/register", body)
        self.id, self._token = registered["user"]["id"], registered["token"]
        self.key = self.ask("/users/me/tokens", {"name": "Story", "scopes": SCOPES})["token"]

    _token = ""

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        headers = {"Content-Type": "application/json"} if body else {}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = json.dumps(body).encode() if body else None
        address = f"{self.url}/api{path}"
        request = Request(address, data, headers, method=method)
        with urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null", parse_float=Decimal)

    def balances(self, trip_id: int) -> dict[int, Decimal]:
        """The balances of a trip as our own API has them, by user id."""
        rows = self.ask(f"/trips/{trip_id}/balances")
        return {row["user"]["id"]: Decimal(row["balance"]) for row in rows}

    def outside(self) -> int:
        """The trip of the newest expense outside of groups."""
        return max(trip["id"] for trip in self.ask("/trips?pageSize=100")["items"])
