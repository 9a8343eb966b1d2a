"""Long random use of many trips leaves no drift: sums, debts and marks still agree to the unit."""

from collections.abc import Callable
from io import StringIO
from random import Random

import pytest
from django.core.management import call_command
from hypothesis import settings

from splits.models import Debt, Expense, Settlement, Split
from tests.cast import Api
from tests.factories import TripFactory, UserFactory, join
from tests.splits.ledger import Ledger
from trips.models import Member, Trip
from trips.roles import TripRole

#: Trips and operations; the second pair is what `make soak` plays.
SIZES = {"default": (2, 80), "soak": (50, 10_000)}
SPLIT_TYPES = ("EQUAL", "MANUAL", "PERCENTAGE", "SHARES")


class Traveller:
    """Does something with the money of a trip, at random; what is refused changes nothing."""

    def __init__(self, random: Random, ledger: Ledger) -> None:
        self.random, self.ledger = random, ledger
        self.people = [
            m.user for m in Member.objects.filter(trip=ledger.trip).select_related("user")
        ]
        self.owner = self.people[0]

    def act(self) -> int:
        """The status of one random operation."""
        operation: Callable[[], int] = self.random.choice(
            [
                self.record,
                self.record,
                self.edit,
                self.pay,
                self.pay,
                self.unpay,
                self.settle,
                self.settle,
                self.delete,
                self.delete_settlement,
                self.take_out,
                self.settle_up,
            ]
        )
        return operation()

    def _body(self) -> dict:
        among = self.random.sample(self.people, self.random.randint(1, len(self.people)))
        amount = self.random.randint(len(among), 50_000)
        body = self.ledger.expense_body(amount, *among, splitType=self.random.choice(SPLIT_TYPES))
        ids = [user.pk for user in among]
        if body["splitType"] == "MANUAL":
            rest = amount - len(ids) + 1
            body["splitAmounts"] = {str(ids[0]): rest} | {str(user_id): 1 for user_id in ids[1:]}
        elif body["splitType"] == "PERCENTAGE":
            each = 1_000_000 // len(ids)
            shares = [1_000_000 - each * (len(ids) - 1)] + [each] * (len(ids) - 1)
            body["splitAmounts"] = {
                str(user_id): f"{share // 10_000}.{share % 10_000:04}"
                for user_id, share in zip(ids, shares, strict=True)
            }
        elif body["splitType"] == "SHARES":
            body["splitAmounts"] = {str(user_id): self.random.randint(1, 9) for user_id in ids}
        payers = self.random.sample(self.people, self.random.randint(1, 2))
        parts = [amount] if len(payers) == 1 else [amount - amount // 3, amount // 3]
        body["payers"] = [
            {"userId": payer.pk, "amount": part}
            for payer, part in zip(payers, parts, strict=True)
            if part
        ]
        return body

    def _send(self, method: str, path: str, body: dict | None = None) -> int:
        return self.ledger.answer(self.owner, method, path, body).status_code

    def _one(self, rows: type) -> int | None:
        ids = list(rows.objects.filter(trip=self.ledger.trip).values_list("pk", flat=True))
        return self.random.choice(ids) if ids else None

    def record(self) -> int:
        return self._send("post", "expenses", self._body())

    def edit(self) -> int:
        expense = self._one(Expense)
        return self._send("put", f"expenses/{expense}", self._body()) if expense else 404

    def delete(self) -> int:
        expense = self._one(Expense)
        return self._send("delete", f"expenses/{expense}") if expense else 404

    def _split(self) -> str | None:
        splits = Split.objects.filter(trip=self.ledger.trip).values_list("expense", "pk")
        if not splits:
            return None
        expense, split = self.random.choice(list(splits))
        return f"/api/expenses/{expense}/splits/{split}"

    def pay(self) -> int:
        split = self._split()
        return self._send("put", f"{split}/pay") if split else 404

    def unpay(self) -> int:
        split = self._split()
        return self._send("put", f"{split}/unpay") if split else 404

    def take_out(self) -> int:
        split = self._split()
        return self._send("delete", split) if split else 404

    def settle(self) -> int:
        sender, receiver = self.random.sample(self.people, 2)
        amount = self.random.randint(1, 30_000)
        body = {"fromUserId": sender.pk, "toUserId": receiver.pk, "amount": amount}
        return self._send("post", "settlements", body)

    def delete_settlement(self) -> int:
        settlement = self._one(Settlement)
        return self._send("delete", f"settlements/{settlement}") if settlement else 404

    def settle_up(self) -> int:
        if self.random.random() < 0.7:
            return 404
        tag = self.ledger.answer(self.owner, "get", "settle-up")["ETag"].strip('"')
        return self._send("post", "settle-up", {"tag": tag})


@pytest.mark.either
@pytest.mark.soak
@pytest.mark.django_db
def test_random_use_of_many_trips_leaves_no_drift(api: Api) -> None:
    """T104: The ledger is consistent after random operations."""
    trips, operations = SIZES[
        "soak" if settings.get_current_profile_name() == "soak" else "default"
    ]
    random = Random(20_261_121)
    travellers = []
    for _number in range(trips):
        trip = TripFactory(currency=random.choice(["JPY", "EUR", "KWD"]))
        people = UserFactory.create_batch(random.randint(2, 6))
        for at, person in enumerate(people):
            join(trip, person, TripRole.EDITOR if at else TripRole.OWNER)
        travellers.append(Traveller(random, Ledger(trip, api, people[0])))
    statuses = {random.choice(travellers).act() for _number in range(operations)}
    # A payment whose credit a closing used goes after that one.
    assert {200, 201, 204} <= statuses <= {200, 201, 204, 404, 409}
    assert Expense.objects.count() > trips
    call_command("audit_ledger", stdout=StringIO())
    for trip in Trip.objects.all():
        balances = {member.user_id: member.balance_minor for member in trip.members.all()}
        assert sum(balances.values()) == 0
        assert balances == from_debts_and_credit(trip, list(balances))


def from_debts_and_credit(trip: Trip, users: list[int]) -> dict[int, int]:
    """Balances as the other side of the ledger tells them: claims less debts, and credit."""
    balances = dict.fromkeys(users, 0)
    for debt in Debt.objects.filter(trip=trip):
        balances[debt.creditor_id] += debt.open_minor
        balances[debt.debtor_id] -= debt.open_minor
    for row in Settlement.with_offsets.filter(trip=trip):
        balances[row.sender_id] += row.credit_minor
        balances[row.receiver_id] -= row.credit_minor
    return balances
