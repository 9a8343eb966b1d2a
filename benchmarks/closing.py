"""Measures how long closing a trip takes, with few open debts and with very many.

It alternates between the trips: each is closed, read, extended, read again and reopened. Finally an
expense and the trip itself are deleted.
"""

import argparse
import statistics
import sys
from typing import Any

from benchmarks.client import Answer, Request, ask, play
from benchmarks.data import PASSWORD
from benchmarks.open_debts import DEBT_MINOR, Size
from benchmarks.report import machine
from benchmarks.servers import MOST_MB, Home, home

_LEAST_DEBTS, _MOST_TURNS = 20, 100
#: The goal: a deleted closing keeps an offset for each two people besides its allocations.
_MOST_MB = MOST_MB + 20
#: Requests whose time grows with the response, or with the rows that they delete.
_GROWING = ("page", "pending-debts of all", "delete expense", "delete trip")


class Closing:
    """A D(n), accessed by its members, and how long each request took."""

    def __init__(self, port: int, debts: int) -> None:
        self._port, self.debts, self.size = port, debts, Size.of(debts)
        self.times_ms: dict[str, list[float]] = {}
        self.wrong: list[str] = []
        self._token = self._log_in(0)
        self._debtor_token = self._log_in(self.size.members - 1)
        [trip] = self._get("/api/trips/my-trips").data["items"]
        self._path = f"/api/trips/{trip['id']}"
        rows = self._get(f"{self._path}/balances").data
        ids = sorted(row["user"]["id"] for row in rows)
        self._owner, self._debtor = ids[0], ids[-1]

    def turn(self) -> None:
        """Close the trip, read it, add and pay an expense, and reopen the trip."""
        there = self._settle(self._owner, self._debtor)
        back = self._settle(self._debtor, self._owner, timed="close")
        self._page(is_paid=True)
        self._balances()
        self._pending("pending-debts", 0)
        self._total(0)
        expense = self._expect("create", 201, self._new_expense())
        self._pending("pending-debts of one", 1)
        expense_path = f"/api/expenses/{expense['id']}"
        self._expect(
            "pay", 200, self._put(f"{expense_path}/splits/{expense['splits'][0]['id']}/pay")
        )
        self._expect("", 204, self._delete(f"{self._path}/expenses/{expense['id']}"))
        self._expect("reopen", 204, self._delete(f"{self._path}/settlements/{back}"))
        again = Request("POST", f"{self._path}/settlements/{back}/restore", self._token)
        self._expect("restore", 200, again)
        self._expect("", 204, self._delete(f"{self._path}/settlements/{back}"))
        self._expect("", 204, self._delete(f"{self._path}/settlements/{there}"))
        self._pending(
            "pending-debts of all", self.size.expenses * (self.size.groups - 1) // self.size.groups
        )

    def close_for_good(self) -> None:
        """Close the trip and delete one of its closed expenses."""
        self._settle(self._owner, self._debtor)
        self._settle(self._debtor, self._owner)
        [expense] = self._get(f"{self._path}/expenses?pageSize=1").data["items"]
        self._expect("delete expense", 204, self._delete(f"{self._path}/expenses/{expense['id']}"))

    def delete(self) -> None:
        self._expect("delete trip", 204, self._delete(self._path))

    # -- Requests ---------------------------------------------------------------------------------

    def _log_in(self, at: int) -> str:
        body = {"email": f"d{self.debts}-{at}@example.com", "password": PASSWORD}
        return ask(self._port, Request("POST", "/api/users/login", body=body)).data["token"]

    def _get(self, path: str) -> Answer:
        return ask(self._port, Request("GET", path, self._token))

    def _put(self, path: str) -> Request:
        return Request("PUT", path, self._token)

    def _delete(self, path: str) -> Request:
        return Request("DELETE", path, self._token)

    def _settle(self, sender: int, receiver: int, timed: str = "") -> int:
        body = {"fromUserId": sender, "toUserId": receiver, "amount": DEBT_MINOR / 100}
        sent = Request("POST", f"{self._path}/settlements", self._token, body)
        return self._expect(timed, 201, sent)["id"]

    def _new_expense(self) -> Request:
        body = {
            "description": "Boat",
            "amount": 10,
            "expenseDate": "2026-05-14",
            "splitType": "EQUAL",
            "participantUserIds": [self._debtor],
            "paidByUserId": self._owner,
        }
        return Request("POST", f"{self._path}/expenses", self._token, body)

    def _page(self, *, is_paid: bool) -> None:
        page = self._expect("page", 200, Request("GET", f"{self._path}/expenses", self._token))
        splits = [split for expense in page["items"] for split in expense["splits"]]
        self._check("page", splits and all(split["paid"] is is_paid for split in splits))

    def _balances(self) -> None:
        rows = self._expect("balances", 200, Request("GET", f"{self._path}/balances", self._token))
        self._check("balances", not any(row["balance"] for row in rows))

    def _pending(self, name: str, expected: int) -> None:
        path = f"/api/users/{self._debtor}/pending-debts"
        found = self._expect(name, 200, Request("GET", path, self._debtor_token))
        self._check(name, len(found) == expected)

    def _total(self, expected: float) -> None:
        path = f"/api/users/{self._debtor}/total-debt"
        found = self._expect("total-debt", 200, Request("GET", path, self._debtor_token))
        self._check("total-debt", found == expected)

    def _expect(self, name: str, status: int, request: Request) -> Any:
        leg = play(self._port, iter([request]), clients=1, seconds=0, at_least=1)
        [answer], [time_ms] = leg.answers, leg.latencies_ms
        if name:
            self.times_ms.setdefault(name, []).append(time_ms)
        if answer.status != status:
            where = f"{name}({self.debts:,}), {request.method} {request.path}"
            raise SystemExit(f"{where}: {answer.status} {answer.body[:200]!r}")
        return answer.data if answer.body else None

    def _check(self, name: str, is_right: Any) -> None:
        if not is_right:
            self.wrong.append(f"{name}({self.debts:,}): a wrong answer")


def say(line: str = "") -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def table(trips: list[Closing]) -> str:
    """A row per request: its median time in each trip, and the last divided by the first."""
    lines = [["Request", *(f"{trip.size.debts:,} debts, ms" for trip in trips), "growth"]]
    lines.append(["---", *["---:"] * (len(trips) + 1)])
    for name in trips[0].times_ms:
        medians = [statistics.median(trip.times_ms[name]) for trip in trips]
        growth = f"{medians[-1] / medians[0]:.2f}"
        lines.append([name, *(f"{median:.2f}" for median in medians), growth])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def measure(here: Home, debts: list[int], turns: int) -> int:
    """Close and reopen each D(n) `turns` times; 1 if a check failed or the goal was missed."""
    here.must("-m", "benchmarks.open_debts", *map(str, debts))
    here.analyse()
    say(f"{here.title}; {machine()}")
    with here.service() as service:
        trips = [Closing(service.port, number) for number in debts]
        for _turn in range(turns):
            for trip in trips:
                trip.turn()
        for trip in trips:
            trip.close_for_good()
        audit = here.run("manage.py", "audit_ledger")
        for trip in trips:
            trip.delete()
        most_mb = service.memory_mb("VmHWM")
    wrong = [text for trip in trips for text in trip.wrong]
    say(f"\n{table(trips)}\n")
    say(f"Growing with the response or the deleted rows: {', '.join(_GROWING)}.")
    say(f"A worker of the service used at most {most_mb:.0f} MB; the goal is {_MOST_MB}.")
    say(f"{len(wrong)} wrong answers. {' '.join(wrong[:3])}")
    say(f"Audit: {(audit.stdout + audit.stderr).strip()}")
    return int(bool(wrong) or audit.returncode != 0 or most_mb > _MOST_MB)


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.closing", description=__doc__)
    parser.add_argument(
        "--debts", default="100,36000", help="minimum number of open debts per trip"
    )
    parser.add_argument("--turns", type=int, default=5, help="how often each trip is closed")
    parser.add_argument("--sqlite", action="store_true", help="on SQLite, not on PostgreSQL")
    chosen = parser.parse_args(args)
    try:
        debts = sorted({int(number) for number in chosen.debts.split(",")})
    except ValueError:
        parser.error("--debts must be integers separated by commas")
    if debts[0] < _LEAST_DEBTS or not 1 <= chosen.turns <= _MOST_TURNS:
        parser.error(f"debts must be at least {_LEAST_DEBTS}, turns at most {_MOST_TURNS}")
    with home(sqlite=chosen.sqlite) as here:
        return measure(here, debts, chosen.turns)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
