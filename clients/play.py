"""Plays a trip with the client of openapi-python-client: `python play.py <address>`."""

import sys
import time
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from trip_companion_client import AuthenticatedClient, Client
from trip_companion_client.api.accounts import get_me, register
from trip_companion_client.api.balances import (
    get_settle_up_plan,
    list_balances,
    record_settle_up_plan,
)
from trip_companion_client.api.expenses import create_expense, update_expense
from trip_companion_client.api.members import add_member, leave_trip
from trip_companion_client.api.sessions import refresh_token
from trip_companion_client.api.settlements import create_settlement
from trip_companion_client.api.splits import pay_split
from trip_companion_client.api.trips import create_trip, update_trip
from trip_companion_client.models import (
    AddMemberRequest,
    Expense,
    JoinRoleEnum,
    NewExpenseRequest,
    NewTripRequest,
    PatchedExpenseRequest,
    PatchedTripRequest,
    Problem,
    RefreshRequest,
    RegisterRequest,
    SettlementRequest,
    SettleUpRequest,
    SplitAmounts,
    SplitTypeEnum,
    TripRoleEnum,
)
from trip_companion_client.types import UNSET

ADDRESS = sys.argv[1]
T = TypeVar("T")


def success(answer: T | Problem | None) -> T:
    """The body of a response, which must not be an error."""
    assert answer is not None
    assert not isinstance(answer, Problem), answer
    return answer


@dataclass
class Person:
    user_id: int
    refresh_token: str
    client: AuthenticatedClient

    @classmethod
    def register(cls, name: str) -> "Person":
        email = f"{name.lower()}.{time.time_ns()}@example.org"
        account = RegisterRequest(name=name, email=email, password="four-green-suitcases")
        login = success(register.sync(client=Client(ADDRESS), body=account))
        return cls(login.user.id, login.refresh_token, AuthenticatedClient(ADDRESS, login.token))


olga, ed = Person.register("Olga"), Person.register("Ed")

# -- A trip and a member --
trip = success(
    create_trip.sync(
        client=olga.client,
        body=NewTripRequest(
            title="Lisbon in May",
            destination="Lisbon",
            description="By train",
            start_date=date(2026, 5, 14),
            end_date=date(2026, 5, 18),
            budget=900.5,
            join_role=JoinRoleEnum.EDITOR,
        ),
    )
)
new_member = AddMemberRequest(user_id=ed.user_id, role=TripRoleEnum.EDITOR)
member = success(add_member.sync(trip.id, client=olga.client, body=new_member))
assert member.user.id == ed.user_id


# -- Every split type --
def record(amount: float, split_type: SplitTypeEnum, *parts: float) -> Expense:
    split_amounts = SplitAmounts()
    for person, part in zip((olga, ed), parts, strict=False):
        split_amounts[str(person.user_id)] = part
    expense = NewExpenseRequest(
        description="Dinner in Alfama",
        amount=amount,
        expense_date=date(2026, 5, 15),
        split_type=split_type,
        participant_user_ids=[olga.user_id, ed.user_id],
        split_amounts=split_amounts if parts else UNSET,
    )
    return success(create_expense.sync(trip.id, client=olga.client, body=expense))


equal = record(62.5, SplitTypeEnum.EQUAL)
manual = record(30, SplitTypeEnum.MANUAL, 10, 20)
percentage = record(240, SplitTypeEnum.PERCENTAGE, 60, 40)
shares = record(40, SplitTypeEnum.SHARES, 3, 1)
divided = [[split.amount for split in e.splits] for e in (equal, manual, percentage, shares)]
assert divided == [[31.25, 31.25], [10, 20], [144, 96], [30, 10]]

# -- A PATCH of one field leaves all others as they are --
title = PatchedTripRequest(title="Lisbon in June")
renamed = success(update_trip.sync(trip.id, client=olga.client, body=title))
changed = {"title": "Lisbon in June", "updatedAt": None, "members": None}
assert renamed.title == "Lisbon in June"
assert renamed.to_dict() | changed == trip.to_dict() | changed
notes = PatchedExpenseRequest(notes="With a view")
noted = success(update_expense.sync(trip.id, manual.id, client=olga.client, body=notes))
changed = {"notes": "With a view", "updatedAt": None}
assert noted.notes == "With a view"
assert noted.to_dict() | changed == manual.to_dict() | changed

# -- Pay, balances, settle up --
debt = next(split for split in equal.splits if split.participant.id == ed.user_id)
paid = success(pay_split.sync(equal.id, debt.id, client=ed.client))
assert (paid.paid, paid.paid_amount) == (True, 31.25)


def balances() -> list[float]:
    rows = success(list_balances.sync(trip.id, client=olga.client))
    return [row.balance for row in rows]


assert balances() == [126, -126]
plan = get_settle_up_plan.sync_detailed(trip.id, client=olga.client)
assert [transfer.amount for transfer in success(plan.parsed)] == [126]

# -- A retry with the same key --
tag = SettleUpRequest(tag=plan.headers["ETag"].strip('"'))
first, retry = (
    record_settle_up_plan.sync_detailed(
        trip.id, client=olga.client, body=tag, idempotency_key=f"settle-up-{trip.id}"
    )
    for _attempt in range(2)
)
assert success(retry.parsed) == success(first.parsed)
assert retry.headers["Idempotency-Replayed"] == "true"
assert balances() == [0, 0]

# -- Errors --
settlement = SettlementRequest(from_user_id=ed.user_id, to_user_id=olga.user_id, amount=-5)
invalid = create_settlement.sync(trip.id, client=olga.client, body=settlement)
assert isinstance(invalid, Problem)
assert invalid.errors
assert invalid.errors.additional_keys == ["amount"]
refused = leave_trip.sync_detailed(trip.id, client=olga.client)
assert refused.status_code == 409
assert isinstance(refused.parsed, Problem)
assert refused.parsed.code == "last_owner"

# -- A new pair of tokens --
body = RefreshRequest(refresh_token=ed.refresh_token)
login = success(refresh_token.sync(client=Client(ADDRESS), body=body))
renewed = AuthenticatedClient(ADDRESS, login.token)
assert success(get_me.sync(client=renewed)).id == ed.user_id
assert refresh_token.sync_detailed(client=Client(ADDRESS), body=body).status_code == 401
