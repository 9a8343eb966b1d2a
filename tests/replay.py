"""What a trip looks like by its journal alone, and what the API shows of it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from splits.models import Expense, Settlement
from tests.cast import Api
from tests.splits.ledger import exact
from trips.models import JournalEntry, Trip
from trips.models.journal import plain_fields
from users.models import User

State = dict[str, Any]
#: The fields that the journal and the API have in common.
TRIP = (*plain_fields(Trip), "budget", "tripCode")
EXPENSE = (
    *(*plain_fields(Expense), "amount", "currency", "tripAmount"),
    *("exchangeRate", "exchangeRateSource", "exchangeRateDate"),
)
SETTLEMENT = ("amount", *plain_fields(Settlement))


class Replay:
    """The state of a trip after its journal; `members` are roles that were there before it."""

    def __init__(self, members: Mapping[int, str] | None = None) -> None:
        self.trip: State = {}
        self.deleted: State = {}
        self.members = dict(members or {})
        self.expenses: dict[int, State] = {}
        self.settlements: dict[int, State] = {}
        self.comments: dict[int, State] = {}

    def run(self, trip_id: int) -> "Replay":
        rows = JournalEntry.objects.filter(trip=trip_id).order_by("number")
        for place, row in enumerate(rows, start=1):
            assert row.number == place
            self.apply(row)
        return self

    def apply(self, row: JournalEntry) -> None:
        new = {name: pair["new"] for name, pair in row.changes.items()}
        kind, verb = row.event.split(".")
        if kind == "trip":
            if verb == "deleted":
                self.deleted, self.trip = self.trip, {}
            else:
                self.trip = (self.deleted if verb == "restored" else self.trip) | new
        elif verb == "claimed":
            self._replace(row.changes["userId"]["old"], new["userId"])
            self.members[row.object_id] = new.get("role", "VIEWER")
        elif kind in {"member", "guest"}:
            if verb in {"left", "removed"}:
                del self.members[row.object_id]
            elif "role" in new:
                self.members[row.object_id] = new["role"]
        elif kind == "split":
            self._apply_to_split(verb, self.expenses[row.expense_id]["splits"], row)
        elif kind in {"expense", "settlement", "comment"}:
            rows = getattr(self, f"{kind}s")
            new |= {"expenseId": row.expense_id} if kind == "comment" else {}
            rows[row.object_id] = rows.get(row.object_id, {}) | new
            if verb == "deleted":
                del rows[row.object_id]

    def _apply_to_split(self, verb: str, splits: list[State], row: JournalEntry) -> None:
        old, new = ({name: pair[at] for name, pair in row.changes.items()} for at in ("old", "new"))
        if verb == "added":
            splits.append({"percentage": None, **new})
        elif verb == "deleted":
            [gone] = [s for s in splits if s["participantUserId"] == old["participantUserId"]]
            splits.remove(gone)

    def _replace(self, guest_id: int, user_id: int) -> None:
        del self.members[guest_id]

        def replaced(value: Any) -> Any:
            if isinstance(value, list):
                return [replaced(item) for item in value]
            if not isinstance(value, dict):
                return value
            return {
                name: user_id if name.lower().endswith("userid") and item == guest_id
                else replaced(item)
                for name, item in value.items()
            }  # fmt: skip

        for rows in (self.expenses, self.settlements):
            for key, value in rows.items():
                rows[key] = replaced(value)

    @property
    def state(self) -> State:
        """In the form of `shown`."""
        expenses = {
            key: {name: row.get(name) for name in EXPENSE}
            | {"payers": row["payers"], "splits": by_person(row["splits"])}
            for key, row in self.expenses.items()
        }
        names = ("fromUserId", "toUserId", *SETTLEMENT)
        settlements = {
            key: {name: row.get(name) for name in names} for key, row in self.settlements.items()
        }
        return {"members": self.members, "expenses": expenses, "settlements": settlements}


def by_person(splits: list[State]) -> list[State]:
    return sorted(splits, key=lambda split: split["participantUserId"])


def shown(get: Callable[[str], Any], trip_id: int) -> State:
    """What the API shows of a trip, as far as the journal has it."""
    url = f"/api/trips/{trip_id}"
    expenses = {
        row["id"]: {name: row[name] for name in EXPENSE}
        | {
            "payers": [{"userId": p["user"]["id"], "amount": p["amount"]} for p in row["payers"]],
            "splits": by_person(
                [
                    {
                        "participantUserId": split["participant"]["id"],
                        "amount": split["amount"],
                        "percentage": split["percentage"],
                    }
                    for split in row["splits"]
                ]
            ),
        }
        for row in items(get, f"{url}/expenses")
    }
    settlements = {
        row["id"]: {
            "fromUserId": row["from"]["id"],
            "toUserId": row["to"]["id"],
            **{name: row[name] for name in SETTLEMENT},
        }
        for row in items(get, f"{url}/settlements")
    }
    members = {row["user"]["id"]: row["role"] for row in exact(get(f"{url}/members"))}
    return {"members": members, "expenses": expenses, "settlements": settlements}


def items(get: Callable[[str], Any], url: str) -> Iterator[State]:
    """All rows of a list that has pages."""
    page = 1
    while rows := exact(get(f"{url}?pageSize=100&page={page}"))["items"]:
        yield from rows
        page += 1


def assert_replayed(api: Api, reader: User, trip_id: int) -> None:
    get = api(reader).get
    replay, trip = Replay().run(trip_id), exact(get(f"/api/trips/{trip_id}"))
    assert {name: replay.trip.get(name) for name in TRIP} == {name: trip[name] for name in TRIP}
    assert replay.state == shown(get, trip_id)
