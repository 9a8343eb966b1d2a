"""The fifteen operations: their requests on a W(n), and how their responses are checked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, repeat
from typing import Any

from benchmarks.client import Answer, Request
from benchmarks.data import LAST_DAY, MEMBERS, PASSWORD
from benchmarks.reference import Reference, plain

#: Reads are those of the owner, except for debts: those are the second member's.
_DEBTOR = 1
_MOST_PAGES = 10
_NEW: dict[str, Any] = {
    "description": "Boat",
    "amount": 62.53,
    "expenseDate": "2026-05-14",
    "splitType": "EQUAL",
}


@dataclass
class World:
    """A W(n), accessed by its members."""

    size: int
    trip_id: int
    user_ids: list[int]
    token: str
    debtor_token: str
    #: Numbers of the newest expenses, by id.
    expenses: dict[int, int] = field(default_factory=dict)
    #: Paths of open splits; paying one removes it.
    open_splits: list[str] = field(default_factory=list)

    @property
    def trip_path(self) -> str:
        return f"/api/trips/{self.trip_id}"

    @classmethod
    def find(cls, size: int, ask: Callable[[Request], Answer]) -> "World":
        """Log in to the service and read the trip."""
        tokens = [ask(log_in_as(size, at)).data["token"] for at in (0, _DEBTOR)]

        def get(path: str) -> Any:
            return ask(Request("GET", path, tokens[0])).data

        [trip] = get("/api/trips/my-trips")["items"]
        balances = get(f"/api/trips/{trip['id']}/balances")
        world = cls(size, trip["id"], [row["user"]["id"] for row in balances], *tokens)
        for page in range(1, min(_MOST_PAGES, -(-size // 100)) + 1):
            for expense in get(f"{world.trip_path}/expenses?pageSize=100&page={page}")["items"]:
                world.expenses[expense["id"]] = int(expense["description"].split()[1])
                world.open_splits += [
                    f"/api/expenses/{expense['id']}/splits/{split['id']}"
                    for split in expense["splits"]
                    if not split["paid"]
                ]
        return world


@dataclass(frozen=True)
class Operation:
    """A row of the table. `goal` is the maximum ratio to the baseline's time."""

    name: str
    requests: Callable[[World], Iterator[Request]]
    is_right: Callable[[Reference, World, Answer], bool]
    goal: float = 3.0
    #: Whether it changes rows, so that no two responses are equal.
    writes: bool = False
    #: Whether the response grows with n, and so does its time.
    grows: bool = False


def log_in_as(size: int, at: int) -> Request:
    body = {"email": f"w{size}-{at}@example.com", "password": PASSWORD}
    return Request("POST", "/api/users/login", body=body)


def _get(path: str) -> Callable[[World], Iterator[Request]]:
    def requests(world: World) -> Iterator[Request]:
        return repeat(Request("GET", world.trip_path + path, world.token))

    return requests


def _of_debtor(name: str) -> Callable[[World], Iterator[Request]]:
    def requests(world: World) -> Iterator[Request]:
        path = f"/api/users/{world.user_ids[_DEBTOR]}/{name}"
        return repeat(Request("GET", path, world.debtor_token))

    return requests


def _log_ins(world: World) -> Iterator[Request]:
    return repeat(log_in_as(world.size, 0))


def _each_expense(world: World) -> Iterator[Request]:
    newest = list(world.expenses)[:50]
    paths = cycle(f"{world.trip_path}/expenses/{expense_id}" for expense_id in newest)
    return (Request("GET", path, world.token) for path in paths)


def _my(path: str) -> Callable[[World], Iterator[Request]]:
    return lambda world: repeat(Request("GET", path, world.token))


def _new_expenses(world: World) -> Iterator[Request]:
    body = {**_NEW, "participantUserIds": world.user_ids}
    return repeat(Request("POST", f"{world.trip_path}/expenses", world.token, body))


def _payments(world: World) -> Iterator[Request]:
    while world.open_splits:
        yield Request("PUT", f"{world.open_splits.pop()}/pay", world.token)


def _is_log_in(reference: Reference, _world: World, answer: Answer) -> bool:
    data = answer.data
    return (
        answer.status == 200
        and plain(data["user"]) == reference.account()
        and data["token"].count(".") == data["refreshToken"].count(".") == 2
        and (data["type"], data["expiresIn"], data["refreshExpiresIn"])
        == ("Bearer", 8 * 3600, 30 * 24 * 3600)
    )


def _is_expense(reference: Reference, world: World, answer: Answer) -> bool:
    number = world.expenses[int(answer.request.path.rpartition("/")[2])]
    return answer.status == 200 and plain(answer.data) == reference.expense(number)


def _is(expected: Callable[[Reference], Any]) -> Callable[[Reference, World, Answer], bool]:
    def is_right(reference: Reference, _world: World, answer: Answer) -> bool:
        return answer.status == 200 and plain(answer.data) == expected(reference)

    return is_right


def _is_statistics(by: str, reference: Reference, world: World, answer: Answer) -> bool:
    expected = reference.statistics(by, world.user_ids)
    return answer.status == 200 and plain(answer.data) == expected


def _is_personal(reference: Reference, world: World, answer: Answer) -> bool:
    return answer.status == 200 and plain(answer.data) == reference.personal(world.trip_id)


def _is_plan(reference: Reference, _world: World, answer: Answer) -> bool:
    return answer.status == 200 and reference.is_plan(answer.data)


def _is_new_expense(reference: Reference, world: World, answer: Answer) -> bool:
    """Check all but who bears the odd cents, which depends on the expense's number."""
    data = answer.data
    shares_minor = [round(split["amount"] * 100) for split in data["splits"]]
    part, left_over = divmod(round(_NEW["amount"] * 100), MEMBERS)
    expected = reference.new_expense(
        _NEW["description"], _NEW["amount"], _NEW["expenseDate"], shares_minor
    )
    return (
        answer.status == 201
        and data["tripId"] == world.trip_id
        and sorted(shares_minor) == [part] * (MEMBERS - left_over) + [part + 1] * left_over
        and plain(data) == expected
    )


def _is_paid(reference: Reference, world: World, answer: Answer) -> bool:
    data = answer.data
    number, at = world.expenses[data["expenseId"]], world.user_ids.index(data["participant"]["id"])
    expected = reference.part(at, reference.share(number, at), is_paid=True)
    path = f"/api/expenses/{data['expenseId']}/splits/{data['id']}/pay"
    return answer.status == 200 and path == answer.request.path and plain(data) == expected


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("log-in", _log_ins, _is_log_in),
        Operation("expense", _each_expense, _is_expense),
        Operation("page", _get("/expenses?pageSize=50"), _is(Reference.page)),
        Operation("balances", _get("/balances"), _is(Reference.balances)),
        *(
            Operation(
                f"by-{by}",
                _get(f"/statistics?by={by}&asOf={LAST_DAY}"),
                partial(_is_statistics, by),
                # Two statements in a snapshot, where the baseline has one.
                goal=4.0,
                # It sums up all expenses.
                grows=True,
            )
            for by in ("category", "member", "day", "month")
        ),
        Operation(
            "my-statistics", _my("/api/users/me/statistics?year=2020"), _is_personal, grows=True
        ),
        Operation("settle-up", _get("/settle-up"), _is_plan),
        Operation(
            "pending-debts",
            _of_debtor("pending-debts"),
            _is(lambda known: known.pending(_DEBTOR)),
            grows=True,
        ),
        Operation("total-debt", _of_debtor("total-debt"), _is(lambda known: known.total(_DEBTOR))),
        Operation("my-trips", _my("/api/trips/my-trips"), _is(Reference.trips)),
        Operation("create", _new_expenses, _is_new_expense, goal=5.0, writes=True),
        Operation("pay", _payments, _is_paid, goal=5.0, writes=True),
    )
}
