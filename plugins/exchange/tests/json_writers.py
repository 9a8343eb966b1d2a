"""Writers of the formats that are JSON."""

import json
from decimal import Decimal
from typing import Any

from plugins.exchange.tests.groups import Bill, Group
from tripcompanion.currency.amounts import to_major


def splitwise_api(group: Group, pages: list[list[tuple[Bill, bool]]]) -> str:
    """The answers of Splitwise's API, a page each. A bill may be an older state of itself."""
    number = {id(bill): at for at, bill in enumerate(group.bills, start=1)}
    sums = group.balances
    members = [
        {
            "id": int(group.ids[name]),
            "first_name": name,
            "balance": [
                {"currency_code": code, "amount": _with_a_decimal(minor, code)}
                for (person, code), minor in sums.items()
                if person == name
            ],
        }
        for name in group.people
    ]

    def expense(bill: Bill, is_stale: bool) -> dict[str, Any]:
        parts, code = bill.cents, bill.currency
        return {
            "id": number[id(bill)],
            "group_id": 3,
            "description": bill.title,
            "payment": bill.kind == "payment",
            "cost": _with_a_decimal(bill.amount * (2 if is_stale else 1), code),
            "currency_code": code,
            "date": f"{bill.day}T12:00:00Z",
            "updated_at": f"2026-05-0{1 if is_stale else 2}T12:00:00Z",
            "deleted_at": "2026-05-03T12:00:00Z" if bill.kind == "deleted" else None,
            "users": [
                {
                    "user_id": int(group.ids[name]),
                    "user": {"id": int(group.ids[name]), "first_name": name},
                    "paid_share": _with_a_decimal(bill.paid.get(name, 0), code),
                    "owed_share": _with_a_decimal(parts.get(name, 0), code),
                }
                for name in {**bill.paid, **parts}
            ],
        }

    answers: list[Any] = [{"expenses": [expense(*row) for row in page]} for page in pages]
    group_answer = {"group": {"id": 3, "name": "Alps", "members": members}}
    return json.dumps([*answers, group_answer] if len(answers) > 1 else answers[0] | group_answer)


#: What Spliit calls the ways of dividing, and by how much more its weights are.
_MODES = {
    "EVENLY": ("EVENLY", 100),
    "SHARES": ("BY_SHARES", 100),
    "PERCENT": ("BY_PERCENTAGE", 1),
    "AMOUNT": ("BY_AMOUNT", 1),
}


def spliit(group: Group, has_ids: bool = True) -> str:
    """A group of Spliit, whose minor units are not those of ISO 4217 in some currencies."""

    def bill_of(at: int, bill: Bill) -> dict[str, Any]:
        mode, times = _MODES[bill.mode]
        row = {
            "id": f"e{at}",
            "expenseDate": f"{bill.day}T00:00:00.000Z",
            "title": bill.title,
            "amount": bill.amount // bill.step,
            "paidById": group.ids[bill.payer],
            "paidFor": [
                {
                    "participantId": group.ids[name],
                    "shares": times * abs(weight) // (bill.step if bill.mode == "AMOUNT" else 1),
                }
                for name, weight in bill.weights.items()
            ],
            "splitMode": mode,
            "isReimbursement": bill.kind == "payment",
        }
        if bill.original:
            code, minor, rate = bill.original
            row |= {"originalAmount": minor, "originalCurrency": code, "conversionRate": str(rate)}
        if not has_ids:
            del row["id"]
        return row

    people = [{"id": pk, "name": name} for name, pk in group.ids.items()]
    rows = [bill_of(at, bill) for at, bill in enumerate(group.bills)]
    content = {"name": "Alps", "currency": "?", "currencyCode": group.currency}
    return json.dumps({**content, "participants": people, "expenses": rows})


def _with_a_decimal(minor: int, currency: str) -> str:
    """As Ruby writes it: without needless zeros, but with a decimal."""
    text = f"{to_major(minor, currency):f}"
    if "." not in text:
        return f"{text}.0"
    whole, _mark, decimals = text.partition(".")
    return f"{whole}.{decimals.rstrip('0') or '0'}"


def ihatemoney(group: Group, version: int, currency: str | None) -> str:
    """The bills of a project of ihatemoney, the newest first."""
    return json.dumps([bill_of_ihatemoney(group, b, version, currency) for b in group.bills])


def bill_of_ihatemoney(
    group: Group, bill: Bill, version: int, currency: str | None
) -> dict[str, Any]:
    """A bill; without a currency, that of the project is unknown."""
    row: dict[str, Any] = {"what": bill.title}
    if version > 6:
        row["bill_type"] = "Reimbursement" if bill.kind == "payment" else "Expense"
    row["amount"] = round(float(to_major(bill.amount, bill.currency)), 2)
    if version > 6 or currency:
        row["currency"] = bill.currency if currency else "XXX"
    return row | {
        "date": str(bill.day),
        "payer_name": bill.payer,
        "payer_weight": float(group.weights[bill.payer]),
        "owers": list(bill.weights),
    }


def abrechnung(group: Group, events: dict[str, dict[str, int]], items: list[Any]) -> str:
    """Abrechnung's file. `items` are the positions of each bill: price, usages, common part."""
    ids = {name: at for at, name in enumerate((*group.people, *events), start=1)}

    def shares(weights: Any, unit: Any = 1) -> dict[str, float]:
        return {str(ids[name]): float(Decimal(w) / unit) for name, w in weights.items()}

    def transaction(at: int, bill: Bill, positions: Any) -> dict[str, Any]:
        is_mimo = len(bill.paid) > 1
        amounts = 10 ** -to_major(1, bill.currency).as_tuple().exponent
        # Weights are floats with any number of decimals.
        unit = {"SHARES": 3, "PERCENT": 10_000, "AMOUNT": amounts}.get(bill.mode, 1)
        modes = {"PERCENT": "percent", "AMOUNT": "absolute"}
        return {
            "id": at,
            "type": "transfer" if bill.kind == "payment" else "mimo" if is_mimo else "purchase",
            "name": bill.title,
            "value": float(to_major(bill.amount, bill.currency)),
            "currency_identifier": bill.currency,
            "currency_conversion_rate": 1.0 if bill.currency == group.currency else 0.96,
            "billed_at": str(bill.day),
            "split_mode": modes.get(bill.mode, "shares"),
            "creditor_shares": shares(bill.paid if is_mimo else {bill.payer: 1}),
            "debitor_shares": shares(bill.weights, unit),
            "positions": [
                {
                    "price": float(to_major(price, bill.currency)),
                    "communist_shares": float(common),
                    "usages": shares(usages),
                }
                for price, usages, common in positions
            ],
        }

    rows = zip(group.bills, items, strict=True)
    return json.dumps(
        {
            "version": 1,
            "metadata": {"currency_identifier": group.currency},
            "personal_accounts": [{"id": ids[name], "name": name} for name in group.people],
            "events": [
                {"id": ids[name], "name": name, "clearing_shares": shares(weights)}
                for name, weights in events.items()
            ],
            "transactions": [transaction(at, *row) for at, row in enumerate(rows, start=1)],
        }
    )


#: Minor units that the second person owes the first, in a currency, in a group.
Owed = dict[tuple[str, str, str], int]


def splitpro(people: tuple[str, ...], in_groups: list[Owed], outside: Owed) -> str:
    """The account of the first person in SplitPro. Others than friends have no names."""
    ids = {name: at for at, name in enumerate(people, start=1)}
    first = people[0]
    totals: dict[tuple[str, str], int] = {}
    for owed in (*in_groups, outside):
        for (user, friend, currency), minor in owed.items():
            if first in {user, friend}:
                key = (friend if user == first else user, currency)
                totals[key] = totals.get(key, 0) + (minor if user == first else -minor)

    def group(at: int, owed: Owed) -> dict[str, Any]:
        pairs = [
            (ids[one], ids[other], currency, sign * minor)
            for (user, friend, currency), minor in owed.items()
            for one, other, sign in ((user, friend, 1), (friend, user, -1))
        ]
        return {
            "id": at,
            "name": f"Group {at}",
            "groupUsers": [{"groupId": at, "userId": pk} for pk in ids.values()],
            "groupBalances": [
                {"userId": one, "friendId": other, "groupId": at, "currency": currency}
                | {"amount": str(minor), "updatedAt": "2026-05-02T09:00:00.000Z"}
                for one, other, currency, minor in sorted(pairs)
            ],
        }

    friends = {
        str(ids[name]): {
            "name": name,
            "balances": [
                {"currency": code, "amount": str(minor)}
                for (person, code), minor in totals.items()
                if person == name
            ],
        }
        for name in people[1:]
    }
    rows = [group(at, owed) for at, owed in enumerate(in_groups, start=1)]
    return json.dumps({"friends": friends, "groups": rows})


def tricount(group: Group, is_local_foreign: bool) -> str:
    """The registry of a tricount; which amount is that of the group differs between files."""
    names = ("amount_local", "amount") if is_local_foreign else ("amount", "amount_local")
    ids = {name: {"uuid": f"m{pk}", "id": int(pk)} for name, pk in group.ids.items()}

    def amounts(bill: Bill, minor: int, foreign: int) -> dict[str, Any]:
        sign = 1 if bill.kind == "income" else -1
        pairs = [(group.currency, minor)]
        if bill.original:
            pairs = [(bill.original[0], foreign), *pairs]
        return {
            name: {"currency": code, "value": f"{sign * to_major(abs(value), code):.2f}"}
            for name, (code, value) in zip(names, pairs, strict=False)
        }

    def entry(at: int, bill: Bill) -> dict[str, Any]:
        foreign = bill.original[1] if bill.original else 0
        types = {"income": "INCOME", "payment": "BALANCE"}
        return {
            "id": at,
            "uuid": f"t{at}",
            "date": f"{bill.day} 18:00:00.000000",
            "description": bill.title,
            "type_transaction": types.get(bill.kind, "NORMAL"),
            "status": "DELETED" if bill.kind == "deleted" else "ACTIVE",
            **amounts(bill, bill.amount, foreign),
            "membership_owned": {"RegistryMembershipNonUser": ids[bill.payer]},
            "allocations": [
                {
                    "membership": {"RegistryMembershipNonUser": ids[name]},
                    **amounts(bill, part, foreign * part // bill.amount),
                }
                for name, part in bill.cents.items()
            ],
        }

    members = [row | {"alias": {"display_name": name}} for name, row in ids.items()]
    entries = [entry(at, bill) for at, bill in enumerate(group.bills, start=1)]
    registry = {
        "currency": group.currency,
        "memberships": [{"RegistryMembershipNonUser": row} for row in members],
        "all_registry_entry": [{"RegistryEntry": row} for row in entries],
    }
    return json.dumps({"Response": [{"Registry": registry}]})
