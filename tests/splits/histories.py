"""What the ledger machine stands on: a trip, its people, and the comparison of ledgers."""

from collections.abc import Iterable
from decimal import Decimal
from io import StringIO
from typing import Any, NamedTuple

from django.core.management import call_command
from django.db import transaction
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant
from rest_framework.response import Response

from tests.cast import Api
from tests.document import problem_of
from tests.factories import TripFactory, join
from tests.replay import Replay, shown
from tests.splits.ledger import Json, Ledger, exact
from tests.splits.rules import Money, Rules, share_out
from trips.roles import Access, Can, Capability, TripRole, access_of
from users.models import User

#: For histories over the API, which take a second each; `make soak` plays more of them.
HISTORIES = settings(max_examples=30 if settings.get_current_profile_name() == "soak" else 4)
ROLES = [TripRole.OWNER, TripRole.EDITOR, TripRole.EDITOR, TripRole.VIEWER]
DECIMALS = {"EUR": 2, "JPY": 0, "KWD": 3}
#: Chooses among as many things as there are at that moment.
ANY = st.integers(0, 11)
OWNER = 0
#: The owner, who may do everything, the others, and an admin, who is no member.
CALLER = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 4])
AMOUNTS = st.integers(1, 400)
TYPES = st.sampled_from(
    ["EQUAL", "EQUAL", "MANUAL", "PERCENTAGE", "SHARES", "ITEMIZED", "ADJUSTMENT"]
)


@st.composite
def weighted_people(draw: st.DrawFn) -> dict[int, int]:
    """Some of the cast, by position, each with a weight."""
    people = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True))
    return {person: draw(st.integers(1, 5)) for person in people}


#: How an expense is divided; the names are those of `Histories.sent`.
DIVISION: dict[str, st.SearchStrategy[Any]] = {
    "amount": st.integers(-100, 400).filter(bool),
    "split_type": TYPES,
    "people": weighted_people(),
    "payers": weighted_people(),
}


class Sent(NamedTuple):
    """The body of an expense, and what it says in minor units."""

    body: Json
    paid_by_user: dict[int, int]
    #: What the amount is divided by, by user.
    entered: dict[int, int]

    @property
    def named(self) -> set[int]:
        return {*self.paid_by_user, *self.entered}

    def parts(self, turn: int) -> dict[int, int]:
        return share_out(sum(self.paid_by_user.values()), self.entered, turn)


class Histories(RuleBasedStateMachine):
    """Each example is a new trip inside a savepoint, which is rolled back in the end."""

    def __init__(self, api: Api, cast: list[User], admin: User) -> None:
        super().__init__()
        self.admin, self.api = admin, api
        self.callers = [*cast, admin]
        self.users = {user.pk: user for user in cast}
        self.roles = dict(zip(self.users, ROLES, strict=True))
        self.present = set(self.users)
        self.rules = Rules()
        self.savepoint = transaction.atomic()
        self.savepoint.__enter__()

    def begin(self, currency: str) -> None:
        trip = TripFactory(currency=currency)
        for user, role in self.roles.items():
            join(trip, self.users[user], role)
        self.currency, self.initial = currency, dict(self.roles)
        self.ledger = Ledger(trip, self.api, self.admin)

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.savepoint.__exit__(None, None, None)

    # -- What is expected -------------------------------------------------------------------------

    def refusal(self, caller: User, can: Capability, *, own: bool = False) -> int:
        """The status that `caller` gets for want of rights, or 0."""
        if caller == self.admin:
            return 0
        if caller.pk not in self.present:
            return 404
        access = access_of(self.roles[caller.pk], can)
        return 0 if access is Access.ANY or (access is Access.OWN and own) else 403

    def refusal_to_change(
        self, caller: User, bill: int, can: Capability = Can.CHANGE_EXPENSES
    ) -> int:
        stored = self.rules.bills[bill]
        own = caller.pk == stored.by or caller.pk in stored.paid_by_user
        return self.refusal(caller, can, own=own)

    def succeeded(self, response: Response, status: int, closing: int | None = None) -> bool:
        """Whether it did, as foreseen; `closing` is the settlement that has to go first."""
        if closing is not None:
            assert problem_of(response, 409, "closes_trip")["settlementId"] == closing
            return False
        assert response.status_code == status
        return status < 400

    def known(self, bill: int) -> set[int]:
        """Whom a changed expense may name: members, and those who are in it already."""
        stored = self.rules.bills[bill]
        return self.present | stored.paid_by_user.keys() | stored.parts.keys()

    def minor(self, amount: Decimal | int) -> int:
        scaled = Decimal(amount).scaleb(DECIMALS[self.currency])
        assert scaled == int(scaled)
        return int(scaled)

    # -- What is sent -----------------------------------------------------------------------------

    def send(self, caller: User, method: str, path: str, body: Any = None) -> Response:
        response = self.ledger.answer(caller, method, path, body)
        assert response.status_code < 500
        return response

    def major(self, amount_minor: int) -> str:
        return str(Decimal(amount_minor).scaleb(-DECIMALS[self.currency]))

    def pick(self, things: Iterable[int], number: int) -> int:
        ordered = sorted(things)
        return ordered[number % len(ordered)]

    def sent(
        self, amount: int, split_type: str, people: dict[int, int], payers: dict[int, int]
    ) -> Sent:
        """An expense; equal, or paid by one, if there is too little to give everybody something."""
        weights = {self.callers[at].pk: weight for at, weight in people.items()}
        paid_by_user = share_out(amount, {self.callers[at].pk: w for at, w in payers.items()}, 0)
        if amount < 0 or not all(paid_by_user.values()):
            paid_by_user = {min(paid_by_user): amount}
        sign = 1 if amount > 0 else -1
        division: Json = {"splitType": split_type, "participantUserIds": list(weights)}
        if split_type == "PERCENTAGE":
            weights = share_out(100 * 10**4, weights, 0)
            division["splitAmounts"] = {u: str(Decimal(e4).scaleb(-4)) for u, e4 in weights.items()}
        if split_type == "SHARES":
            division["splitAmounts"] = {u: str(weight) for u, weight in weights.items()}
        if split_type == "MANUAL":
            weights = share_out(abs(amount), weights, 0)
            division["splitAmounts"] = {u: self.major(sign * w) for u, w in weights.items()}
        if split_type == "ADJUSTMENT":
            weights, division["splitAmounts"] = self._adjusted(amount, weights)
            weights = {user: sign * part for user, part in weights.items()}
        if split_type == "ITEMIZED":
            weights, items = self._items(amount, weights)
            division = {"splitType": split_type, **items}
        if split_type == "EQUAL" or min(weights.values()) <= 0:
            weights = dict.fromkeys(weights, 1)
            division = {"splitType": "EQUAL", "participantUserIds": list(weights)}
        body = {
            "description": "Dinner",
            "amount": self.major(amount),
            "expenseDate": "2026-05-14",
            "payers": [
                {"userId": u, "amount": self.major(part)} for u, part in paid_by_user.items()
            ],
            **division,
        }
        return Sent(body, paid_by_user, weights)

    def _adjusted(self, amount: int, weights: dict[int, int]) -> tuple[dict[int, int], Json]:
        """What the parts are in proportion to, and how much more or less somebody bears."""
        more = {user: weight - 3 for user, weight in weights.items() if weight != 3}
        rest = amount - sum(more.values())
        parts = {user: rest + len(weights) * more.get(user, 0) for user in weights}
        return parts, {user: self.major(minor) for user, minor in more.items()}

    def _items(self, amount: int, weights: dict[int, int]) -> tuple[dict[int, int], Json]:
        """What the parts are in proportion to, and the items: one for all, and one for one."""
        first, whole, sign = next(iter(weights)), sum(weights.values()), 1 if amount > 0 else -1
        own = abs(amount) // 3
        shared = abs(amount) - own
        had = {u: weight * shared + (u == first) * own * whole for u, weight in weights.items()}
        items = [
            {"name": "Fish", "amount": self.major(sign * shared), "shares": weights},
            {"name": "Wine", "amount": self.major(sign * own), "shares": {first: 2}},
        ]
        extra = self.major(sign)
        return had, {"items": items, "tip": extra, "discount": extra}

    # -- After every step -------------------------------------------------------------------------

    @invariant()
    def balances_are_what_the_rules_say(self) -> None:
        rows = exact(self.send(self.admin, "get", "balances"))
        balances = {row["user"]["id"]: self.minor(row["balance"]) for row in rows}
        listed = self.present | self.rules.people()
        assert balances == {user: self.rules.balance(user) for user in listed}
        assert sum(balances.values()) == 0

    @invariant()
    def splits_are_as_paid_as_the_rules_say(self) -> None:
        shown = {}
        expenses = exact(self.send(self.admin, "get", "expenses?pageSize=100"))["items"]
        assert {expense["id"] for expense in expenses} == self.rules.bills.keys()
        for expense in expenses:
            paid_by_user = {
                row["user"]["id"]: self.minor(row["amount"]) for row in expense["payers"]
            }
            assert paid_by_user == self.rules.bills[expense["id"]].paid_by_user
            for split in expense["splits"]:
                amount, paid = self.minor(split["amount"]), self.minor(split["paidAmount"])
                assert split["paid"] == (paid == amount) == (split["paidAt"] is not None)
                place = (expense["id"], split["participant"]["id"])
                shown[split["id"]] = (place, amount, paid)
        rules = self.rules
        assert shown == {
            split: (place, rules.amount(split), rules.paid(split))
            for split, place in rules.splits.items()
        }

    @invariant()
    def debts_are_what_the_rules_say(self) -> None:
        for user in self.users:
            pending = exact(self.send(self.admin, "get", f"/api/users/{user}/pending-debts"))
            assert [split["id"] for split in pending] == self.rules.pending(user)
            path = f"/api/users/{user}/total-debt?currency={self.currency}"
            total = self.minor(exact(self.send(self.admin, "get", path)))
            assert total == sum(map(self.rules.still_open, self.rules.pending(user)))

    @invariant()
    def what_is_open_makes_the_balances(self) -> None:
        for user in self.users:
            assert self.rules.law(user) == self.rules.balance(user)

    @invariant()
    def settlements_are_what_the_rules_say(self) -> None:
        rows = exact(self.send(self.admin, "get", "settlements?pageSize=100"))["items"]
        shown = {
            row["id"]: (row["from"]["id"], row["to"]["id"], self.minor(row["amount"]))
            for row in rows
        }
        assert shown == {key: money[:3] for key, money in self.rules.money.items()}

    @invariant()
    def the_audit_finds_nothing(self) -> None:
        call_command("audit_ledger", stdout=StringIO())

    @invariant()
    def the_journal_says_what_is_shown(self) -> None:
        replay = Replay(self.initial).run(self.ledger.trip.pk)
        client = self.ledger.client(self.admin)
        assert replay.state == shown(client.get, self.ledger.trip.pk)

    # -- Ids that the service gave ----------------------------------------------------------------

    def rewritten(
        self, bill: int, parts: dict[int, int], paid_by_user: dict[int, int] | None
    ) -> None:
        """Tell the rules how an expense is divided now; without `paid_by_user` the payers stay."""
        splits = self.ledger.expense({"id": bill})["splits"]
        ids = {split["participant"]["id"]: split["id"] for split in splits}
        self.rules.rewrite(bill, paid_by_user or self.rules.bills[bill].paid_by_user, parts, ids)

    def entered(self, expected: list[Money]) -> None:
        """Tell the rules which settlements were just recorded, in the order of their ids."""
        rows = [row for row in self.ledger.settlements() if row["id"] not in self.rules.money]
        self.rules.enter({row["id"]: money for row, money in zip(rows, expected, strict=True)})
