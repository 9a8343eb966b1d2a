"""Rows T86, T87 and T90: many requests in the same instant, each race with one lawful outcome."""

from collections import Counter
from decimal import Decimal
from functools import partial

from tests.splits.journey import (
    Journey,
    answers_at_once,
    at_once,
    fresh_email,
    register,
    split_path,
)

#: How often a race of two is run: whoever is first differs from time to time.
ROUNDS = 5


def test_t86_pay_and_unpay_at_once_leave_all_or_nothing(journey, travellers):
    """T86: Concurrent pay and unpay leave a split fully paid or fully open."""
    debtor = travellers[1]
    journey.admit(debtor)
    split = journey.spend(60, debtor)["splits"][0]
    for _round in range(ROUNDS):
        calls = [
            lambda a=action: debtor.call("PUT", split_path(split, a))
            for action in ("/pay", "/unpay")
        ]
        assert at_once(calls) == {(200, ""): 2}
        paid = debtor.done("GET", split_path(split))["paid"]
        assert [row["amount"] for row in journey.rows("settlements")] == ([60] if paid else [])
        journey.adds_up()


def test_t87_of_twenty_who_make_the_same_at_once_one_does(http, journey, travellers):
    """T87: Of twenty identical concurrent requests (add a member, register), one succeeds."""
    owner, user, *_others = travellers
    path, body = f"{journey.path}/members", {"userId": user.id}
    adding = at_once([lambda: owner.call("POST", path, body)] * 20)
    assert adding == {(201, ""): 1, (409, "already_member"): 19}
    email = fresh_email()
    spellings = [email if at % 2 else email.upper() for at in range(20)]
    registering = at_once([lambda e=spelling: register(http, e) for spelling in spellings])
    assert registering == {(201, ""): 1, (409, "email_taken"): 19}


def test_t90_an_expense_changed_while_its_split_is_paid_adds_up(journey, travellers):
    """T90: An expense that changes while its split is paid still adds up."""
    owner, debtor, *_others = travellers
    journey.admit(debtor)
    for number in range(ROUNDS):
        expense = journey.spend(60, owner, debtor)
        path = f"{journey.path}/expenses/{expense['id']}"
        split = next(s for s in expense["splits"] if s["participant"]["id"] == debtor.id)
        outcome = at_once(
            [
                lambda p=path, n=number: owner.call("PATCH", p, {"amount": 80 + n}),
                lambda s=split: debtor.call("PUT", split_path(s, "/pay")),
            ]
        )
        # A split of another amount starts again, and the old one may be gone when it is paid.
        assert outcome in ({(200, ""): 2}, {(200, ""): 1, (404, "not_found"): 1})
        changed = owner.done("GET", path)
        assert sum(s["amount"] for s in changed["splits"]) == changed["amount"] == 80 + number
        journey.adds_up()


# -- Other races ----------------------------------------------------------------------------------


def test_fifty_expenses_at_once_are_all_recorded(server, journey, travellers):
    people = travellers[:3]
    for user in people[1:]:
        journey.admit(user)
    path, body = f"{journey.path}/expenses", journey.expense_body(100, *people)
    calls = [lambda by=people[at % 3]: by.call("POST", path, body) for at in range(50)]
    assert at_once(calls) == {(201, ""): 50}
    expenses = journey.rows("expenses")
    assert len(expenses) == 50
    odd_cents = Counter(
        split["participant"]["id"]
        for expense in expenses
        for split in expense["splits"]
        if split["amount"] == Decimal("33.34")
    )
    assert sorted(odd_cents.values()) == [16, 17, 17]
    journal = server.journal(journey.id)
    assert [row["number"] for row in journal] == list(range(len(journal), 0, -1))
    assert Counter(row["event"] for row in journal)["expense.created"] == 50
    journey.adds_up()


def test_a_member_removed_while_an_expense_names_them_is_either_gone_or_in_it(journey, travellers):
    owner, user, *_others = travellers
    for _round in range(ROUNDS):
        journey.admit(user)
        body = journey.expense_body(60, user)
        outcome = at_once(
            [
                lambda: owner.call("DELETE", f"{journey.path}/members/{user.id}"),
                lambda b=body: owner.call("POST", f"{journey.path}/expenses", b),
            ]
        )
        removed_first = {(204, ""): 1, (400, "invalid"): 1}
        assert outcome in (removed_first, {(409, "balance_open"): 1, (201, ""): 1})
        journey.adds_up()
        for expense in journey.rows("expenses"):
            owner.done("DELETE", f"{journey.path}/expenses/{expense['id']}")
        if outcome != removed_first:
            owner.done("DELETE", f"{journey.path}/members/{user.id}")


def test_a_payment_deleted_while_another_one_closes_the_trip_goes_or_is_used(travellers):
    """A third owes the second what the second owes the first, and pays the first in two parts."""
    owner, second, third = travellers[:3]
    for _round in range(ROUNDS):
        journey = Journey.start(owner)
        for user in (second, third):
            journey.admit(user)
        second.done("POST", f"{journey.path}/expenses", journey.expense_body(10, third))
        journey.spend(10, second)
        path = f"{journey.path}/settlements"
        body = {"fromUserId": third.id, "toUserId": owner.id, "amount": 4}
        first = third.done("POST", path, body)["id"]
        deleted, closing = answers_at_once(
            [
                partial(owner.call, "DELETE", f"{path}/{first}"),
                partial(third.call, "POST", path, {**body, "amount": 6}),
            ]
        )
        assert closing.status_code == 201
        is_deleted = deleted.status_code == 204
        if not is_deleted:
            assert deleted.json()["settlementId"] == closing.json()["id"]
        splits = [split for expense in journey.rows("expenses") for split in expense["splits"]]
        assert [split["paid"] for split in splits] == [not is_deleted] * 2
        journey.adds_up()
