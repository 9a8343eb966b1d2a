"""Speaks to the API about the money of one trip, so that a test shows amounts and people only."""

import json
from decimal import Decimal
from typing import Any, TypeAlias

from rest_framework.response import Response
from rest_framework.test import APIClient

from tests.cast import Api
from tests.trips.bodies import dinner
from trips.models import JournalEntry, Trip
from users.models import User

Json: TypeAlias = dict[str, Any]


def exact(response: Response) -> Any:
    """The JSON of an answer with every number exact: fractions as `Decimal`."""
    return json.loads(response.content, parse_float=Decimal)


class Ledger:
    """Commands raise if they are refused; what `answer` returns may be of any status."""

    def __init__(self, trip: Trip, api: Api, reader: User) -> None:
        self.trip, self.url = trip, f"/api/trips/{trip.pk}"
        self._api, self._reader = api, reader
        self._clients: dict[int, APIClient] = {}

    def client(self, user: User) -> APIClient:
        """The one client of `user`, with a token."""
        if user.pk not in self._clients:
            self._clients[user.pk] = self._api(user)
        return self._clients[user.pk]

    def answer(self, user: User, method: str, path: str, body: Any = None) -> Response:
        """What `user` gets for a request; a path without a leading slash is under the trip's."""
        url = path if path.startswith("/") else f"{self.url}/{path}"
        return getattr(self.client(user), method)(url, body)

    def _done(self, user: User, method: str, path: str, body: Any = None) -> Any:
        response = self.answer(user, method, path, body)
        assert response.status_code in {200, 201, 204}, response.content
        return response.json() if response.content else None

    def _assert_as_stored(self, written: Response, url: str) -> None:
        """The answer to a write was not read again, but says what a GET says."""
        assert written.content == self.answer(self._reader, "get", url).content

    def journal(self, **lookup: Any) -> list[JournalEntry]:
        """What was written about the trip, the newest first."""
        rows = JournalEntry.objects.filter(trip=self.trip.pk, **lookup)
        return list(rows.order_by("-number"))

    def names(self, user: User, query: str = "") -> list[str]:
        """The descriptions of the expenses that a query such as `?paid=true` finds."""
        response = self.answer(user, "get", f"expenses{query}")
        assert response.status_code == 200, response.content
        return [expense["description"] for expense in response.json()["items"]]

    # -- Commands ---------------------------------------------------------------------------------

    def spend(self, by: User, amount: Any, *among: User, **fields: Any) -> Json:
        """Record an expense; it is divided equally unless `fields` say otherwise."""
        response = self.answer(by, "post", "expenses", self.expense_body(amount, *among, **fields))
        assert response.status_code == 201, response.content
        self._assert_as_stored(response, response["Location"])
        return response.json()

    def change(self, expense: Json, by: User, **fields: Any) -> Json:
        return self._done(by, "patch", f"expenses/{expense['id']}", fields)

    def delete(self, expense: Json, by: User) -> None:
        self._done(by, "delete", f"expenses/{expense['id']}")

    def add_split(self, expense: Json, by: User, user: User, **part: Any) -> Json:
        body = {"participantUserId": user.pk, **part}
        return self._done(by, "post", f"/api/expenses/{expense['id']}/splits", body)

    def comment(self, expense: Json, by: User, text: str = "Tasty.") -> Json:
        return self._done(by, "post", f"/api/expenses/{expense['id']}/comments", {"text": text})

    def pay(self, split: Json, by: User) -> Json:
        response = self.answer(by, "put", f"{split_url(split)}/pay")
        assert response.status_code == 200, response.content
        self._assert_as_stored(response, split_url(split))
        return response.json()

    def unpay(self, split: Json, by: User) -> Json:
        return self._done(by, "put", f"{split_url(split)}/unpay")

    def delete_split(self, split: Json, by: User) -> None:
        self._done(by, "delete", split_url(split))

    def settle(self, sender: User, receiver: User, amount: Any, by: User | None = None) -> Json:
        """The payment as it is shown afterwards, without the credit that this answer has."""
        body = {"fromUserId": sender.pk, "toUserId": receiver.pk, "amount": amount}
        recorded = self._done(by or sender, "post", "settlements", body)
        del recorded["credit"]
        return recorded

    def delete_settlement(self, settlement: Json, by: User) -> None:
        self._done(by, "delete", f"settlements/{settlement['id']}")

    # -- Questions --------------------------------------------------------------------------------

    def expense(self, expense: Json) -> Json:
        return self._done(self._reader, "get", f"expenses/{expense['id']}")

    def split(self, expense: Json, user: User) -> Json:
        """The present split of `user` in `expense`."""
        splits = self._done(self._reader, "get", f"/api/expenses/{expense['id']}/splits")
        [found] = [split for split in splits if split["participant"]["id"] == user.pk]
        return found

    def paid(self, expense: Json, user: User) -> tuple[bool, float]:
        """Whether the split of `user` is paid, and how much of it is."""
        split = self.split(expense, user)
        assert split["paid"] == (split["paidAt"] is not None)
        return split["paid"], split["paidAmount"]

    def comments(self, expense: Json) -> list[Json]:
        """The first page of comments on an expense, oldest first."""
        page = self._done(self._reader, "get", f"/api/expenses/{expense['id']}/comments")
        return page["items"]

    def settlements(self) -> list[Json]:
        """All settlements, oldest first."""
        page = self._done(self._reader, "get", "settlements?pageSize=100")
        return sorted(page["items"], key=lambda settlement: settlement["id"])

    def balances(self) -> dict[int, float]:
        rows = self._done(self._reader, "get", "balances")
        return {row["user"]["id"]: row["balance"] for row in rows}

    def balance(self, user: User) -> float:
        return self.balances()[user.pk]

    def plan(self) -> list[Json]:
        return self._done(self._reader, "get", "settle-up")

    def pending(self, user: User) -> list[int]:
        """The ids of the splits that `user` still owes."""
        splits = self._done(user, "get", f"/api/users/{user.pk}/pending-debts")
        return [split["id"] for split in splits]

    def debt(self, user: User) -> float:
        return self._done(user, "get", f"/api/users/{user.pk}/total-debt")

    def imbalance(self) -> Decimal:
        """The sum of all balances, which is to be zero, whatever time it is by now."""
        rows = exact(self._api(self._reader).get(f"{self.url}/balances"))
        return sum((row["balance"] for row in rows), Decimal(0))

    @staticmethod
    def expense_body(amount: Any, /, *among: User, **fields: Any) -> Json:
        """A valid body for an expense among the given people."""
        return dinner(*among, **{"description": "Dinner in Alfama", "amount": amount, **fields})


def paid_by(first: User, amount: Any, second: User, other_amount: Any) -> list[Json]:
    """Two payers, and what each put in."""
    return [{"userId": first.pk, "amount": amount}, {"userId": second.pk, "amount": other_amount}]


def split_url(split: Json) -> str:
    return f"/api/expenses/{split['expenseId']}/splits/{split['id']}"


def parts(expense: Json) -> dict[int, Any]:
    """The amount of each split of an expense, by user id."""
    return {split["participant"]["id"]: split["amount"] for split in expense["splits"]}
