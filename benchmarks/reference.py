"""The correct responses for W(n), derived from its definition alone, without database or models.

Responses are compared after `plain`, which removes ids and timestamps, because they differ from run
to run, and reduces `paidAt` to whether it is set.
"""

from collections import Counter, defaultdict
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from benchmarks.baseline.shapes import OPTIONAL
from benchmarks.data import DAYS, FIRST_DAY, MEMBERS, is_old

_UNKNOWN = {
    *("id", "tripId", "expenseId", "participantUserIds"),
    *("createdAt", "updatedAt", "tripCode"),
}


def plain(value: Any) -> Any:
    """A response without values that cannot be predicted."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: plain(item) for name, item in value.items() if name not in _UNKNOWN}
    if "paidAt" in kept:
        kept["paidAt"] = kept["paidAt"] is not None
    return kept


class Reference:
    """W(`size`), in minor units. Members and expenses are numbered from 0."""

    def __init__(self, size: int) -> None:
        self.size = size

    def person(self, at: int) -> dict[str, Any]:
        name = f"w{self.size}-{at}"
        email = f"{name}@example.com"
        return {"name": name, "email": email, "profilePicture": None, "guest": False}

    def amount(self, number: int) -> int:
        return 1_000 + number % 9_000

    def payer(self, number: int) -> int:
        return number % MEMBERS

    def share(self, number: int, at: int) -> int:
        """A tenth; the odd cents rotate, starting with another member for each expense."""
        part, left_over = divmod(self.amount(number), MEMBERS)
        return part + ((at - number) % MEMBERS < left_over)

    def is_paid(self, number: int, at: int) -> bool:
        """True for the payer's own split, every third of the others, and all of old expenses."""
        payer = self.payer(number)
        return is_old(number, self.size) or at == payer or (at - (at > payer)) % 3 == 0

    def split(self, number: int, at: int) -> dict[str, Any]:
        return self.part(at, self.share(number, at), is_paid=self.is_paid(number, at))

    def part(self, at: int, share_minor: int, *, is_paid: bool) -> dict[str, Any]:
        """A split of this amount, open or fully paid."""
        return {
            "participant": self.person(at),
            "amount": share_minor / 100,
            "percentage": None,
            "paid": is_paid,
            "paidAmount": share_minor / 100 if is_paid else 0,
            "paidAt": is_paid,
        }

    def expense(self, number: int) -> dict[str, Any]:
        day = FIRST_DAY + timedelta(days=number % DAYS)
        splits = [self.split(number, at) for at in range(MEMBERS)]
        return self.paid_by(
            self.payer(number), f"Expense {number}", self.amount(number) / 100, str(day), splits
        )

    def new_expense(
        self, description: str, amount: float, day: str, shares_minor: list[int]
    ) -> dict[str, Any]:
        """An expense that the owner just recorded: only the owner's split is paid."""
        splits = [
            self.part(at, share_minor, is_paid=at == 0)
            for at, share_minor in enumerate(shares_minor)
        ]
        return self.paid_by(0, description, amount, day, splits)

    def paid_by(
        self, at: int, description: str, amount: float, day: str, splits: list[dict[str, Any]]
    ) -> dict[str, Any]:
        payer = self.person(at)
        return {
            "description": description,
            "amount": amount,
            "currency": "EUR",
            "tripAmount": amount,
            "tripCurrency": "EUR",
            "exchangeRate": None,
            "exchangeRateSource": "",
            "exchangeRateDate": None,
            "rate": None,
            "expenseDate": day,
            "category": "OTHER",
            "splitType": "EQUAL",
            "splitAmounts": None,
            "paidBy": payer,
            "payers": [{"user": payer, "amount": amount}],
            **{name: value if value != "[]" else [] for name, (_, value) in OPTIONAL.items()},
            **dict.fromkeys(("tax", "tip", "discount")),
            "splits": splits,
        }

    def page(self) -> dict[str, Any]:
        """The first page of 50."""
        newest = sorted(range(self.size), key=lambda number: (-(number % DAYS), -number))[:50]
        return {
            "items": [self.expense(number) for number in newest],
            "total": self.size,
            "page": 1,
            "pageSize": 50,
            "totalPages": -(-self.size // 50),
        }

    @cached_property
    def balances_minor(self) -> list[dict[str, int]]:
        """The four sums and the balance of each member."""
        sums = [dict.fromkeys(("paid", "share", "sent", "received"), 0) for _at in range(MEMBERS)]
        for number in range(self.size):
            payer = self.payer(number)
            sums[payer]["paid"] += self.amount(number)
            for at in range(MEMBERS):
                share = self.share(number, at)
                sums[at]["share"] += share
                if at != payer and self.is_paid(number, at):
                    sums[at]["sent"] += share
                    sums[payer]["received"] += share
        for row in sums:
            row["balance"] = row["paid"] - row["share"] + row["sent"] - row["received"]
        return sums

    def balances(self) -> list[dict[str, Any]]:
        return [
            {"user": self.person(at), **{name: minor / 100 for name, minor in sums.items()}}
            for at, sums in enumerate(self.balances_minor)
        ]

    def statistics(self, by: str, user_ids: list[int]) -> dict[str, Any]:
        """By category, member, day or month, as the owner reads them."""
        groups = self._groups(by, user_ids)
        so_far = 0.0
        for group in groups:
            so_far = round(so_far + group["paid"], 2)
            group |= {"planned": None, "cumulative": so_far if by in {"day", "month"} else None}
        return {"currency": "EUR", "total": so_far, "budget": None, "groups": groups}

    def personal(self, trip_id: int) -> dict[str, Any]:
        """What the owner paid and bears in the first year."""
        names = {"trips": "trip", "categories": "category", "months": "month"}
        groups = {name: self._groups(by, [trip_id], is_own=True) for name, by in names.items()}
        sums = {name: groups["trips"][0][name] for name in ("paid", "share", "count")}
        return {"year": FIRST_DAY.year, "currencies": [{"currency": "EUR", **sums, **groups}]}

    def _groups(self, by: str, ids: list[int], *, is_own: bool = False) -> list[dict[str, Any]]:
        """Of all expenses; or of those of the first year, with what the owner paid."""
        sums: defaultdict[Any, Counter[str]] = defaultdict(Counter)
        for number in range(self.size):
            day, payer = FIRST_DAY + timedelta(days=number % DAYS), self.payer(number)
            if is_own and day.year > FIRST_DAY.year:
                continue
            keys = {"category": "OTHER", "day": str(day), "month": f"{day:%Y-%m}", "trip": 0}
            paid = 0 if is_own and payer else 1
            sums[keys.get(by, payer)] += Counter(paid=paid * self.amount(number), count=paid)
            for at in range(MEMBERS) if by == "member" else (0,):
                sums[keys.get(by, at)]["share"] += self.share(number, at)
        labels = {
            "category": lambda _key: "Other",
            "month": lambda key: f"{date.fromisoformat(key + '-01'):%B %Y}",
            "trip": lambda _key: f"W({self.size})",
            "member": lambda at: self.person(at)["name"],
        }
        return [
            {
                "key": key if isinstance(key, str) else str(ids[key]),
                "label": labels.get(by, str)(key),
                "paid": found["paid"] / 100,
                "share": found["share"] / 100,
                "count": found["count"],
            }
            for key, found in sorted(sums.items())
        ]

    def is_plan(self, transfers: list[dict[str, Any]]) -> bool:
        """Whether these transfers bring every balance to zero, and only debtors pay creditors."""
        left = {
            self.person(at)["name"]: sums["balance"] for at, sums in enumerate(self.balances_minor)
        }
        for transfer in transfers:
            sender, receiver = transfer["from"]["name"], transfer["to"]["name"]
            amount_minor = round(transfer["amount"] * 100)
            if amount_minor <= 0 or left[sender] >= 0 or left[receiver] <= 0:
                return False
            left[sender] += amount_minor
            left[receiver] -= amount_minor
        return not any(left.values()) and len(transfers) < MEMBERS

    def pending(self, at: int) -> list[dict[str, Any]]:
        numbers = range(self.size)
        return [self.split(number, at) for number in numbers if not self.is_paid(number, at)]

    def total(self, at: int) -> float:
        numbers = range(self.size)
        return sum(self.share(n, at) for n in numbers if not self.is_paid(n, at)) / 100

    def trips(self) -> dict[str, Any]:
        trip = {
            "clientId": None,
            "title": f"W({self.size})",
            "destination": "Everywhere",
            "description": "",
            "imageUrl": None,
            "startDate": str(FIRST_DAY),
            "endDate": str(FIRST_DAY + timedelta(days=self.size)),
            "budget": None,
            "currency": "EUR",
            "joinRole": "VIEWER",
            "defaultDivision": None,
            "categoryBudgets": None,
            "currentUserRole": "OWNER",
        }
        return {"items": [trip], "total": 1, "page": 1, "pageSize": 20, "totalPages": 1}

    def account(self) -> dict[str, Any]:
        """The owner, as in the response to a login."""
        person = self.person(0)
        del person["guest"]
        events = ["member.added", "split.paid", "expense.created", "expense.changed"]
        notices = {"email": "off", "events": [*events, "document.due", "comment.created"]}
        shown = {"role": "USER", "currency": "EUR", "notices": notices, "mayBeAdded": True}
        return {**person, **shown}
