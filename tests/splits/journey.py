"""Travellers on the real server, their trip, and how they do things in the same instant."""

import secrets
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from json import loads
from threading import Barrier
from typing import Any

import httpx

from tests import citus
from tests.passwords import PASSWORD
from tests.trips.bodies import lisbon

Call = Callable[[], httpx.Response]

_REPEATS = 3
#: As in `tripcompanion.serving.admission`, which `make cluster` cannot import without settings.
_WAIT_SECONDS = 2


@dataclass(frozen=True)
class Traveller:
    """A user of the server, with a token."""

    http: httpx.Client
    id: int
    headers: dict[str, str]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        headers = {**self.headers, **headers}
        return self.http.request(method, f"/api{path}", json=body, headers=headers)

    def done(self, method: str, path: str, body: Any = None) -> Any:
        """The exact JSON of a request that is not refused."""
        response = patiently(lambda: self.call(method, path, body))
        assert response.is_success, response.text
        return loads(response.text, parse_float=Decimal) if response.content else None


def register(http: httpx.Client, email: str) -> httpx.Response:
    body = {"name": "Tess Traveller", "email": email, "password": PASSWORD}
    return http.post("/api/users/register", json=body)


def fresh_email() -> str:
    return f"{secrets.token_hex(8)}@example.com"


def sign_up(http: httpx.Client) -> Traveller:
    """A new user."""
    email = fresh_email()
    login = patiently(lambda: register(http, email)).json()
    return Traveller(http, login["user"]["id"], {"Authorization": f"Bearer {login['token']}"})


def split_path(split: Any, action: str = "") -> str:
    return f"/expenses/{split['expenseId']}/splits/{split['id']}{action}"


@dataclass(frozen=True)
class Journey:
    """A trip in EUR, and what is done in it."""

    owner: Traveller
    id: int

    @classmethod
    def start(cls, owner: Traveller) -> "Journey":
        return cls(owner, owner.done("POST", "/trips", lisbon())["id"])

    @property
    def path(self) -> str:
        return f"/trips/{self.id}"

    def admit(self, user: Traveller, role: str = "EDITOR") -> None:
        self.owner.done("POST", f"{self.path}/members", {"userId": user.id, "role": role})
        # Whoever has not answered may leave with any balance.
        user.done("GET", self.path)

    def expense_body(self, amount: int, *among: Traveller, **fields: Any) -> dict[str, Any]:
        return {
            "description": "Dinner",
            "amount": amount,
            "expenseDate": "2026-05-14",
            "splitType": "EQUAL",
            "participantUserIds": [user.id for user in among],
            **fields,
        }

    def spend(self, amount: int, *among: Traveller) -> Any:
        body = self.expense_body(amount, *among)
        return self.owner.done("POST", f"{self.path}/expenses", body)

    def rows(self, name: str) -> list[Any]:
        page = self.owner.done("GET", f"{self.path}/{name}?pageSize=100")
        assert page["total"] == len(page["items"])
        return page["items"]

    def adds_up(self) -> None:
        """Balances sum to zero, and are what the entries say; whoever paid paid alone here."""
        sums: Counter[int] = Counter()
        for expense in self.rows("expenses"):
            payer = expense["paidBy"]["id"]
            sums[payer] += expense["amount"]
            for split in expense["splits"]:
                sums[split["participant"]["id"]] -= split["amount"]
            sums[payer] -= expense["amount"] - sum(s["amount"] for s in expense["splits"])
        for settlement in self.rows("settlements"):
            sums[settlement["from"]["id"]] += settlement["amount"]
            sums[settlement["to"]["id"]] -= settlement["amount"]
        rows = self.owner.done("GET", f"{self.path}/balances")
        balances = {row["user"]["id"]: row["balance"] for row in rows}
        assert sum(balances.values()) == 0
        assert balances == {user: sums[user] for user in balances.keys() | sums.keys()}

    def owners(self, witness: Traveller) -> list[int]:
        """The ids of the OWNERs, as the member `witness` sees them."""
        members = witness.done("GET", f"{self.path}/members")
        return [row["user"]["id"] for row in members if row["role"] == "OWNER"]


def at_once(calls: list[Call]) -> Counter[tuple[int, str]]:
    """Make all calls in the same instant; how often which status and code came back."""
    return Counter(codes(answers_at_once(calls)))


def codes(responses: list[httpx.Response]) -> list[tuple[int, str]]:
    """Status and code of each."""
    return [
        (each.status_code, "" if each.is_success else each.json()["code"]) for each in responses
    ]


def _is_to_be_repeated(response: httpx.Response) -> bool:
    """Whether a busy host refused what has waited too long, or Citus what would be a deadlock."""
    has_waited = response.elapsed.total_seconds() >= _WAIT_SECONDS
    is_refused = response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    return is_refused and (has_waited or bool(citus.URL))


def patiently(call: Call) -> httpx.Response:
    """Make a call, and a few times again if a busy host refuses it."""
    response = call()
    for _again in range(_REPEATS):
        if not _is_to_be_repeated(response):
            break
        response = call()
    return response


def answers_at_once(calls: list[Call]) -> list[httpx.Response]:
    barrier = Barrier(len(calls))

    def run(call: Call) -> httpx.Response:
        barrier.wait()
        return patiently(call)

    with ThreadPoolExecutor(len(calls)) as threads:
        responses = list(threads.map(run, calls))
    assert not [response for response in responses if response.status_code >= 500]
    return responses
