"""Rows T96-T104: no cent comes or goes."""

import json
from collections import Counter
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from rest_framework.exceptions import NotFound

from splits.models import Expense, Settlement
from splits.models.individual_splits import remove_split
from tests.cast import Api
from tests.factories import UserFactory, join
from tests.hostile import NO_NUMBER
from tests.security.environment import NEVER, Environment
from tests.splits.ledger import Ledger, exact
from tests.splits.test_drift import Traveller as AtRandom
from tests.stored import everything_stored
from trips.roles import TripRole

OPERATIONS = 60
#: Negative amounts, which an expense may have.
REFUNDS = {"-1", '"-1"'}


def test_t96_what_is_no_amount_is_refused(environment: Environment) -> None:
    """T96: Invalid amounts are rejected."""
    body = environment.expense_body(amount="HERE")
    literals = [
        *(literal for literal in NO_NUMBER if literal not in REFUNDS),
        *("NaN", "Infinity", '"sNaN"', '"1_000"', '" 5 "', "null", "1e999999999", "0.001"),
    ]
    before = everything_stored()
    for literal in literals:
        raw = json.dumps(body).replace('"HERE"', literal)
        client = environment.client(environment.ed)
        answer = client.generic("POST", f"{environment.url}/expenses", raw, "application/json")
        assert answer.status_code == 400, literal
        if answer.json()["code"] == "invalid":
            assert "amount" in answer.json()["errors"], literal
    assert everything_stored() == before


def test_t97_the_smallest_and_the_largest_amount_come_back_as_they_went(
    environment: Environment,
) -> None:
    """T97: The smallest and the largest amount are returned unchanged."""

    def record(amount: Any) -> Any:
        body = environment.expense_body(amount=amount, participantUserIds=[environment.ed.pk])
        return environment.ask(environment.ed, "POST", f"{environment.url}/expenses", body)

    for amount in ("0.01", "1000000000000", "999999999999.99", "33.33"):
        made = record(amount)
        assert (made.status_code, exact(made)["amount"]) == (201, Decimal(amount))
        shown = environment.ask(environment.ed, "GET", made["Location"])
        assert exact(shown)["amount"] == Decimal(amount)
    assert record("1000000000000.01").status_code == 400
    assert exact(record("33.335"))["amount"] == Decimal("33.34")


@pytest.mark.parametrize(
    ("amount", "people"), [("0.01", 2), ("0.02", 4), ("100", 3), ("1000", 7), ("0.05", 8)]
)
def test_t98_equal_parts_add_up_and_the_odd_cent_goes_round(
    environment: Environment, amount: str, people: int
) -> None:
    """T98: Equal shares add up, and the odd cent rotates."""
    ids = [environment.olga.pk, environment.ed.pk, environment.vera.pk]
    for user in UserFactory.create_batch(max(0, people - 3)):
        join(environment.trip, user)
        ids.append(user.pk)
    body = environment.expense_body(amount=amount, participantUserIds=ids[:people])
    dearest = set()
    for _turn in range(people):
        made = exact(environment.ask(environment.olga, "POST", f"{environment.url}/expenses", body))
        again = exact(
            environment.ask(environment.olga, "GET", f"{environment.url}/expenses/{made['id']}")
        )
        assert made["splits"] == again["splits"]
        parts = {row["participant"]["id"]: row["amount"] for row in made["splits"]}
        assert sum(parts.values()) == Decimal(amount)
        assert min(parts.values()) >= 0
        assert max(parts.values()) - min(parts.values()) <= Decimal("0.01")
        dearest |= {user for user, part in parts.items() if part == max(parts.values())}
    assert len(dearest) > 1


def refused_division(environment: Environment, kind: str, entered: Any, amount: Any = 100) -> str:
    among = [environment.olga.pk, environment.ed.pk, environment.vera.pk][: max(len(entered), 1)]
    body = environment.expense_body(amount=amount, splitType=kind, participantUserIds=among)
    body["splitAmounts"] = dict(zip(map(str, among), entered, strict=False))
    before = everything_stored()
    answer = environment.ask(environment.ed, "POST", f"{environment.url}/expenses", body)
    assert answer.status_code == 400, entered
    assert everything_stored() == before
    errors = answer.json()["errors"]
    assert all(field.startswith("splitAmounts") for field in errors)
    return next(iter(errors.values()))[0]


def test_t99_percentages_add_up_to_a_hundred(environment: Environment) -> None:
    """T99: Percentages must add up to 100."""
    for sums, entered in (("99.99", [50, 49.99]), ("100.01", [50, 50.01]), ("99.99", [33.33] * 3)):
        assert sums in refused_division(environment, "PERCENTAGE", entered)
    for entered in ([-10, 110], [0, 100], ["NaN", 100], [50.00001, 50], [101, 1]):
        assert refused_division(environment, "PERCENTAGE", entered)


def test_t100_exact_amounts_that_miss_say_by_how_much(environment: Environment) -> None:
    """T100: If exact amounts do not add up, the error states the difference."""
    for difference, entered in (("0.01", [50, 49.99]), ("-0.01", [50, 50.01])):
        assert f"difference is {difference}" in refused_division(environment, "MANUAL", entered)


def test_t101_participants_are_distinct_ids(environment: Environment) -> None:
    """T101: Participants are distinct ids."""
    me = environment.ed.pk
    for wrong in ([], [me, me], [str(me), me], None, "test-1", 10**9, [None], [[me]], {}, [0]):
        body = environment.expense_body(participantUserIds=wrong)
        before = everything_stored()
        answer = environment.ask(environment.ed, "POST", f"{environment.url}/expenses", body)
        assert answer.status_code == 400
        assert {key.split(".")[0] for key in answer.json()["errors"]} == {"participantUserIds"}
        assert everything_stored() == before


def test_t102_whoever_is_named_is_a_member_now(environment: Environment) -> None:
    """T102: Everyone named in a body is a current member."""
    left, deleted = UserFactory(), UserFactory()
    for user in (left, deleted):
        join(environment.trip, user, TripRole.EDITOR)
    environment.trip.members.filter(user=left).update(left_at=timezone.now())
    assert environment.ask(environment.ada, "DELETE", f"/api/users/{deleted.pk}").status_code == 204
    for field, value in (("participantUserIds", list), ("paidByUserId", int)):
        texts = set()
        for pk in (environment.sam.pk, left.pk, deleted.pk, NEVER):
            body = environment.expense_body(**{field: [pk] if value is list else pk})
            answer = environment.ask(environment.ed, "POST", f"{environment.url}/expenses", body)
            assert answer.status_code == 400
            [(named, [text])] = answer.json()["errors"].items()
            assert named == field
            texts.add(text.replace(str(pk), "N"))
        assert len(texts) == 1


def test_t103_a_date_is_a_day_of_the_calendar(environment: Environment) -> None:
    """T103: A date is a valid calendar date.

    It may lie outside the trip: flights are paid before, and refunds come after.
    """

    def status(day: Any) -> int:
        body = environment.expense_body(expenseDate=day)
        return environment.ask(
            environment.ed, "POST", f"{environment.url}/expenses", body
        ).status_code

    for wrong in ("0001-01-01T00:00:00+14:00", "2026-02-30", "0000-01-01", "10000-01-01", 20260514):
        assert status(wrong) == 400
    for good in ("0001-01-01", "9999-12-31", "2026-02-28"):
        assert status(good) == 201
    moved = {"startDate": "2030-01-01", "endDate": "2030-01-02"}
    assert environment.ask(environment.olga, "PATCH", environment.url, moved).status_code == 200
    listed = environment.ask(
        environment.vera, "GET", f"{environment.url}/expenses?pageSize=100"
    ).json()
    assert listed["total"] == environment.trip.expenses.count() == 5


@pytest.mark.either
def test_t104_after_every_random_operation_the_books_are_right(
    environment: Environment, api: Api
) -> None:
    """T104: The ledger is consistent after every random operation."""
    ledger = Ledger(environment.trip, api, environment.olga)
    people = [environment.olga, environment.ed, environment.vera]
    random = AtRandom(Random(7), ledger)
    statuses = Counter()
    for _turn in range(OPERATIONS):
        statuses[random.act()] += 1
        balances = ledger.balances()
        assert sum(map(Decimal, map(str, balances.values()))) == 0
        for user in people:
            pending = ledger.answer(user, "get", f"/api/users/{user.pk}/pending-debts").json()
            owed = sum(Decimal(str(s["amount"])) - Decimal(str(s["paidAmount"])) for s in pending)
            # Olga owes something in Sam's trip too, and nothing of it is paid.
            assert Decimal(str(ledger.debt(user))) == owed
    assert statuses.keys() <= {200, 201, 204, 404, 409}
    assert statuses[200] > 0 < statuses[204]
    assert Expense.objects.filter(trip=environment.trip).exists()
    assert Settlement.objects.filter(trip=environment.trip).exists()


def test_money_that_is_gone_is_not_deleted_again(environment: Environment) -> None:
    """Whoever read a row before it went gets the 404 of what never was, under the lock too."""
    given = environment.settlement()
    stale = Settlement.objects.get(pk=given.pk)
    given.remove(by=environment.olga)
    rows = environment.dinner.splits.filter(expense__trip=F("trip"))
    split = rows.select_related("expense").get(pk=environment.eds.pk)
    remove_split(split, by=environment.olga)
    for again in (stale.remove, partial(remove_split, split)):
        before = everything_stored()
        with pytest.raises(NotFound):
            again(by=environment.olga)
        assert everything_stored() == before
