"""Rows T77-T104: retries act once, every race has one winner, and no cent comes or goes."""

import json
import secrets
from collections import Counter
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any

import httpx
import pytest
from django.utils import timezone
from rest_framework.exceptions import NotFound

from splits.models import Expense, Settlement
from tests.conftest import Api
from tests.factories import UserFactory, join
from tests.hostile import NO_NUMBER
from tests.security.held import while_held
from tests.security.stage import NEVER, Stage
from tests.server import Server
from tests.splits.book import Book, exact
from tests.splits.journey import (
    Journey,
    Traveller,
    answers_at_once,
    at_once,
    fresh_email,
    register,
    sign_up,
    split_path,
)
from tests.splits.test_drift import Traveller as AtRandom
from tests.trips.access import everything_stored
from tests.trips.bodies import lisbon
from trips.models import Trip
from trips.roles import TripRole

#: How often a race of two is run, and how many random operations are played; `make soak` and
#: `make mutate` do more.
ROUNDS = 5
OPERATIONS = 60


def keyed(key: str) -> dict[str, str]:
    return {"HTTP_IDEMPOTENCY_KEY": key}


# -- Retries --------------------------------------------------------------------------------------


def test_t77_a_repeated_key_acts_once(stage: Stage) -> None:
    url, body = f"{stage.url}/expenses", stage.expense_body()
    first, again = (stage.ask(stage.ed, "POST", url, body, **keyed("k")) for _turn in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again["Idempotency-Replayed"] == "true"
    assert stage.trip.expenses.count() == 3


def test_t78_a_used_key_fits_no_other_request(stage: Stage) -> None:
    stage.ask(stage.ed, "POST", f"{stage.url}/expenses", stage.expense_body(), **keyed("k"))
    before = everything_stored()
    for path, body in (
        ("/expenses", stage.expense_body(amount=13)),
        ("/expenses/preview", stage.expense_body()),
    ):
        other = stage.ask(stage.ed, "POST", stage.url + path, body, **keyed("k"))
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert everything_stored() == before


def test_t79_a_key_is_its_users_alone(stage: Stage) -> None:
    body = stage.expense_body()
    made = [
        stage.ask(user, "POST", f"{stage.url}/expenses", body, **keyed("k"))
        for user in (stage.ed, stage.olga)
    ]
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].json()["id"] != made[1].json()["id"]


def test_t80_one_key_used_by_twenty_at_once_acts_once(
    journey: Journey, travellers: list[Traveller]
) -> None:
    owner = travellers[0]
    body = journey.expense_body(60, owner)
    key = {"Idempotency-Key": secrets.token_hex(8)}
    calls = [lambda: owner.call("POST", f"{journey.path}/expenses", body, **key)] * 20
    answers = answers_at_once(calls)
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses.keys() <= {201, 409}
    assert all(int(a.headers["Retry-After"]) >= 1 for a in answers if a.status_code == 409)
    assert len({answer.json()["id"] for answer in answers if answer.is_success}) == 1
    assert len(journey.rows("expenses")) == 1


def test_t29_a_refresh_token_used_by_twenty_at_once_is_good_for_one(http: httpx.Client) -> None:
    for _round in range(ROUNDS):
        body = {"refreshToken": register(http, fresh_email()).json()["refreshToken"]}
        calls = [lambda b=body: http.post("/api/users/token/refresh", json=b)] * 20
        outcome = Counter(answer.status_code for answer in answers_at_once(calls))
        assert outcome == {200: 1, 401: 19}


def test_t82_a_refused_request_leaves_its_key_unused(stage: Stage) -> None:
    url = f"{stage.url}/expenses"
    for wrong in ({}, stage.expense_body(amount=0), stage.expense_body(amount="x")):
        assert stage.ask(stage.ed, "POST", url, wrong, **keyed("k")).status_code == 400
    assert stage.ask(stage.ed, "POST", url, stage.expense_body(), **keyed("k")).status_code == 201


def test_t83_a_request_that_dies_leaves_its_key_unused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Key and effect are one transaction, so a broken one leaves neither."""
    url, body = f"{stage.url}/expenses", stage.expense_body()
    before = everything_stored()
    with monkeypatch.context() as broken:
        broken.setattr(Trip, "count_expense", lambda _trip: 1 / 0)
        stage.client(stage.ed).raise_request_exception = False
        assert stage.ask(stage.ed, "POST", url, body, **keyed("k")).status_code == 500
    assert everything_stored() == before
    again = stage.ask(stage.ed, "POST", url, body, **keyed("k"))
    assert again.status_code == 201
    assert "Idempotency-Replayed" not in again


# -- Races ----------------------------------------------------------------------------------------


def owners_of(trip: Journey, witness: Traveller) -> list[int]:
    members = witness.done("GET", f"{trip.path}/members")
    return [row["user"]["id"] for row in members if row["role"] == "OWNER"]


@pytest.mark.parametrize("act", ["leave", "demote", "remove"])
def test_t84_two_owners_who_go_at_once_leave_one(travellers: list[Traveller], act: str) -> None:
    first, second, witness, *_others = travellers

    def going(who: Traveller, other: Traveller, path: str) -> httpx.Response:
        if act == "leave":
            return who.call("POST", f"{path}/members/leave")
        if act == "demote":
            return who.call("PUT", f"{path}/members/{other.id}/role", {"role": "VIEWER"})
        return who.call("DELETE", f"{path}/members/{other.id}")

    for _round in range(ROUNDS):
        trip = Journey.start(first)
        trip.admit(second, "OWNER")
        trip.admit(witness, "VIEWER")
        pairs = ((first, second), (second, first))
        answers = answers_at_once(
            [lambda w=who, o=other, p=trip.path: going(w, o, p) for who, other in pairs]
        )
        assert sorted(answer.is_success for answer in answers) == [False, True]
        assert {a.status_code for a in answers if not a.is_success} <= {403, 404, 409}
        assert len(owners_of(trip, witness)) == 1


def test_t85_a_split_paid_by_five_at_once_is_paid_once(
    journey: Journey, travellers: list[Traveller]
) -> None:
    owner, debtor, *_others = travellers
    journey.admit(debtor)
    for _round in range(ROUNDS):
        split = journey.spend(60, debtor)["splits"][0]
        payers = [debtor, owner, debtor, owner, debtor]
        calls = [lambda by=by, s=split: by.call("PUT", split_path(s, "/pay")) for by in payers]
        answers = answers_at_once(calls)
        assert {(answer.status_code, answer.json()["paid"]) for answer in answers} == {(200, True)}
    assert [row["amount"] for row in journey.rows("settlements")] == [60] * ROUNDS
    journey.adds_up()


def test_t86_pay_and_unpay_at_once_leave_all_or_nothing(
    journey: Journey, travellers: list[Traveller]
) -> None:
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


def test_t87_of_twenty_who_make_the_same_at_once_one_does(
    http: httpx.Client, journey: Journey, travellers: list[Traveller]
) -> None:
    owner, user, joiner, *_others = travellers
    path, body = f"{journey.path}/members", {"userId": user.id}
    adding = at_once([lambda: owner.call("POST", path, body)] * 20)
    assert adding == {(201, ""): 1, (409, "already_member"): 19}
    email = fresh_email()
    spellings = [email if at % 2 else email.upper() for at in range(20)]
    registering = at_once([lambda e=spelling: register(http, e) for spelling in spellings])
    assert registering == {(201, ""): 1, (409, "email_taken"): 19}
    code = {"tripCode": owner.done("GET", journey.path)["tripCode"]}
    joining = at_once([lambda: joiner.call("POST", "/trips/join", code)] * 20)
    assert joining == {(201, ""): 1, (409, "already_member"): 19}


def test_t88_an_expense_deleted_while_its_split_is_paid_leaves_nothing(
    journey: Journey, travellers: list[Traveller]
) -> None:
    owner, debtor, *_others = travellers
    journey.admit(debtor)
    for _round in range(ROUNDS):
        expense = journey.spend(60, debtor)
        path = f"{journey.path}/expenses/{expense['id']}"
        split = split_path(expense["splits"][0], "/pay")
        delete, pay = answers_at_once(
            [lambda p=path: owner.call("DELETE", p), lambda p=split: debtor.call("PUT", p)]
        )
        assert (delete.status_code, pay.status_code in {200, 404}) == (204, True)
        assert journey.rows("settlements") == []
        journey.adds_up()


def test_t89_splits_added_at_once_stay_within_the_expense(
    journey: Journey, travellers: list[Traveller]
) -> None:
    owner, *others = travellers
    for user in others[:10]:
        journey.admit(user)
    expense = journey.spend(100, owner)
    owner.done("DELETE", split_path(expense["splits"][0]))
    path = f"/expenses/{expense['id']}/splits"
    bodies = [{"participantUserId": user.id, "amount": 15} for user in others[:10]]
    outcome = at_once([lambda b=body: owner.call("POST", path, b) for body in bodies])
    assert outcome == {(201, ""): 6, (409, "exceeds_expense"): 4}
    journey.adds_up()


def test_t90_an_expense_changed_while_its_split_is_paid_adds_up(
    journey: Journey, travellers: list[Traveller]
) -> None:
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


def test_t92_a_trip_or_user_deleted_meanwhile_leaves_no_orphan(
    server: Server, http: httpx.Client, travellers: list[Traveller]
) -> None:
    owner, user, *_others = travellers
    for _round in range(ROUNDS):
        trip = Journey.start(owner)
        trip.admit(user)
        body = trip.expense_body(60, user)
        answers = answers_at_once(
            [
                lambda p=trip.path: owner.call("DELETE", p),
                lambda p=trip.path, b=body: user.call("POST", f"{p}/expenses", b),
            ]
        )
        assert answers[0].status_code == 204
        assert answers[1].status_code in {201, 404}
        assert owner.call("GET", trip.path).status_code == 404
    server.manage("audit_ledger")


def test_t93_of_two_writers_with_one_tag_one_gets_through(
    journey: Journey, travellers: list[Traveller]
) -> None:
    owner = travellers[0]
    for _round in range(ROUNDS):
        tag = owner.call("GET", journey.path).headers["ETag"]
        answers = answers_at_once(
            [
                lambda t=title, g=tag: owner.call(
                    "PATCH", journey.path, {"title": t}, **{"If-Match": g}
                )
                for title in (secrets.token_hex(4), secrets.token_hex(4))
            ]
        )
        refused, done = sorted(answers, key=lambda answer: answer.is_success)
        assert (done.status_code, refused.status_code) == (200, 412)
        assert refused.headers["ETag"] == done.headers["ETag"]
    for good in ({}, {"If-Match": "*"}):
        assert owner.call("PATCH", journey.path, {"title": "x"}, **good).status_code == 200
    for wrong in ('"stale"', "nonsense", 'W/"x"', '""'):
        for method, body in (("PATCH", {"title": "y"}), ("PUT", lisbon()), ("DELETE", None)):
            answer = owner.call(method, journey.path, body, **{"If-Match": wrong})
            assert answer.status_code == 412


def test_t94_a_plan_is_booked_once_however_many_book_it(
    journey: Journey, travellers: list[Traveller]
) -> None:
    owner, *others = travellers[:4]
    for user in others:
        journey.admit(user)
    journey.spend(100, owner, *others)
    answer = owner.call("GET", f"{journey.path}/settle-up")
    plan, tag = answer.json(), {"tag": answer.headers["ETag"].strip('"')}
    outcome = at_once([lambda: owner.call("POST", f"{journey.path}/settle-up", tag)] * 6)
    assert outcome == {(201, ""): 1, (409, "plan_changed"): 5}
    assert len(journey.rows("settlements")) == len(plan) == 3
    balances = owner.done("GET", f"{journey.path}/balances")
    assert {row["balance"] for row in balances} == {0}
    for user in others:
        assert user.done("GET", f"/users/{user.id}/total-debt") >= 0
        assert user.call("GET", f"{journey.path}/settle-up").json() == []
    journey.adds_up()


def test_t91_who_owes_or_is_owed_stays(stage: Stage) -> None:
    join(stage.trip, UserFactory(), TripRole.OWNER)
    leave = f"{stage.url}/members/leave"
    for user in (stage.ed, stage.vera, stage.olga):
        stage.refuses(user, "POST", leave, status=409, code="balance_open")
        url = f"{stage.url}/members/{user.pk}"
        stage.refuses(stage.ada, "DELETE", url, status=409, code="balance_open")


def test_t95_paying_and_unpaying_may_be_repeated(stage: Stage) -> None:
    seen = {"pay": set(), "unpay": set()}
    for action, answers in seen.items():
        for _turn in range(3):
            answer = stage.ask(stage.ed, "PUT", f"{stage.eds_url}/{action}")
            assert answer.status_code == 200
            answers.add(answer.content)
        assert len(answers) == 1
    assert stage.trip.settlements.count() == 0


# -- Money ----------------------------------------------------------------------------------------


def test_t96_what_is_no_amount_is_refused(stage: Stage) -> None:
    body = stage.expense_body(amount="HERE")
    literals = [
        *NO_NUMBER,
        *("NaN", "Infinity", '"sNaN"', '"1_000"', '" 5 "', "null", "1e999999999", "0.001"),
    ]
    before = everything_stored()
    for literal in literals:
        raw = json.dumps(body).replace('"HERE"', literal)
        client = stage.client(stage.ed)
        answer = client.generic("POST", f"{stage.url}/expenses", raw, "application/json")
        assert answer.status_code == 400, literal
        if answer.json()["code"] == "invalid":
            assert "amount" in answer.json()["errors"], literal
    assert everything_stored() == before


def test_t97_the_smallest_and_the_largest_amount_come_back_as_they_went(stage: Stage) -> None:
    def record(amount: Any) -> Any:
        body = stage.expense_body(amount=amount, participantUserIds=[stage.ed.pk])
        return stage.ask(stage.ed, "POST", f"{stage.url}/expenses", body)

    for amount in ("0.01", "1000000000000", "999999999999.99", "33.33"):
        made = record(amount)
        assert (made.status_code, exact(made)["amount"]) == (201, Decimal(amount))
        shown = stage.ask(stage.ed, "GET", made["Location"])
        assert exact(shown)["amount"] == Decimal(amount)
    assert record("1000000000000.01").status_code == 400
    assert exact(record("33.335"))["amount"] == Decimal("33.34")


@pytest.mark.parametrize(
    ("amount", "people"), [("0.01", 2), ("0.02", 4), ("100", 3), ("1000", 7), ("0.05", 8)]
)
def test_t98_equal_parts_add_up_and_the_odd_cent_goes_round(
    stage: Stage, amount: str, people: int
) -> None:
    ids = [stage.olga.pk, stage.ed.pk, stage.vera.pk]
    for user in UserFactory.create_batch(max(0, people - 3)):
        join(stage.trip, user)
        ids.append(user.pk)
    body = stage.expense_body(amount=amount, participantUserIds=ids[:people])
    dearest = set()
    for _turn in range(people):
        made = exact(stage.ask(stage.olga, "POST", f"{stage.url}/expenses", body))
        again = exact(stage.ask(stage.olga, "GET", f"{stage.url}/expenses/{made['id']}"))
        assert made["splits"] == again["splits"]
        parts = {row["participant"]["id"]: row["amount"] for row in made["splits"]}
        assert sum(parts.values()) == Decimal(amount)
        assert min(parts.values()) >= 0
        assert max(parts.values()) - min(parts.values()) <= Decimal("0.01")
        dearest |= {user for user, part in parts.items() if part == max(parts.values())}
    assert len(dearest) > 1


def refused_division(stage: Stage, kind: str, entered: Any, amount: Any = 100) -> str:
    among = [stage.olga.pk, stage.ed.pk, stage.vera.pk][: max(len(entered), 1)]
    body = stage.expense_body(amount=amount, splitType=kind, participantUserIds=among)
    body["splitAmounts"] = dict(zip(map(str, among), entered, strict=False))
    before = everything_stored()
    answer = stage.ask(stage.ed, "POST", f"{stage.url}/expenses", body)
    assert answer.status_code == 400, entered
    assert everything_stored() == before
    errors = answer.json()["errors"]
    assert all(field.startswith("splitAmounts") for field in errors)
    return next(iter(errors.values()))[0]


def test_t99_percentages_add_up_to_a_hundred(stage: Stage) -> None:
    for sums, entered in (("99.99", [50, 49.99]), ("100.01", [50, 50.01]), ("99.99", [33.33] * 3)):
        assert sums in refused_division(stage, "PERCENTAGE", entered)
    for entered in ([-10, 110], [0, 100], ["NaN", 100], [50.00001, 50], [101, 1]):
        assert refused_division(stage, "PERCENTAGE", entered)


def test_t100_exact_amounts_that_miss_say_by_how_much(stage: Stage) -> None:
    for difference, entered in (("0.01", [50, 49.99]), ("-0.01", [50, 50.01])):
        assert f"difference is {difference}" in refused_division(stage, "MANUAL", entered)


def test_t101_participants_are_distinct_ids(stage: Stage) -> None:
    me = stage.ed.pk
    for wrong in ([], [me, me], [str(me), me], None, "test-1", 10**9, [None], [[me]], {}, [0]):
        body = stage.expense_body(participantUserIds=wrong)
        before = everything_stored()
        answer = stage.ask(stage.ed, "POST", f"{stage.url}/expenses", body)
        assert answer.status_code == 400
        assert {key.split(".")[0] for key in answer.json()["errors"]} == {"participantUserIds"}
        assert everything_stored() == before


def test_t102_whoever_is_named_is_a_member_now(stage: Stage) -> None:
    left, deleted = UserFactory(), UserFactory()
    for user in (left, deleted):
        join(stage.trip, user, TripRole.EDITOR)
    stage.trip.members.filter(user=left).update(left_at=timezone.now())
    assert stage.ask(stage.ada, "DELETE", f"/api/users/{deleted.pk}").status_code == 204
    for field, value in (("participantUserIds", list), ("paidByUserId", int)):
        texts = set()
        for pk in (stage.sam.pk, left.pk, deleted.pk, NEVER):
            body = stage.expense_body(**{field: [pk] if value is list else pk})
            answer = stage.ask(stage.ed, "POST", f"{stage.url}/expenses", body)
            assert answer.status_code == 400
            [(named, [text])] = answer.json()["errors"].items()
            assert named == field
            texts.add(text.replace(str(pk), "N"))
        assert len(texts) == 1


def test_t103_a_date_is_a_day_of_the_calendar(stage: Stage) -> None:
    """It may lie outside the trip: flights are paid before, and refunds come after."""

    def status(day: Any) -> int:
        body = stage.expense_body(expenseDate=day)
        return stage.ask(stage.ed, "POST", f"{stage.url}/expenses", body).status_code

    for wrong in ("0001-01-01T00:00:00+14:00", "2026-02-30", "0000-01-01", "10000-01-01", 20260514):
        assert status(wrong) == 400
    for good in ("0001-01-01", "9999-12-31", "2026-02-28"):
        assert status(good) == 201
    moved = {"startDate": "2030-01-01", "endDate": "2030-01-02"}
    assert stage.ask(stage.olga, "PATCH", stage.url, moved).status_code == 200
    listed = stage.ask(stage.vera, "GET", f"{stage.url}/expenses?pageSize=100").json()
    assert listed["total"] == stage.trip.expenses.count() == 5


def test_t104_after_every_random_operation_the_books_are_right(stage: Stage, api: Api) -> None:
    book = Book(stage.trip, api, stage.olga)
    people = [stage.olga, stage.ed, stage.vera]
    random = AtRandom(Random(7), book)
    statuses = Counter()
    for _turn in range(OPERATIONS):
        statuses[random.act()] += 1
        balances = book.balances()
        assert sum(map(Decimal, map(str, balances.values()))) == 0
        for user in people:
            pending = book.answer(user, "get", f"/api/users/{user.pk}/pending-debts").json()
            owed = sum(Decimal(str(s["amount"])) - Decimal(str(s["paidAmount"])) for s in pending)
            # Olga owes something in Sam's trip too, and nothing of it is paid.
            assert Decimal(str(book.debt(user))) == owed
    assert statuses.keys() <= {200, 201, 204, 404, 409}
    assert statuses[200] > 0 < statuses[204]
    assert Expense.objects.filter(trip=stage.trip).exists()
    assert Settlement.objects.filter(trip=stage.trip).exists()


def test_money_that_is_gone_is_not_deleted_again(stage: Stage) -> None:
    """Whoever read a row before it went gets the 404 of what never was, under the lock too."""
    given = stage.settlement()
    stale = Settlement.objects.get(pk=given.pk)
    given.remove(by=stage.olga)
    split = stage.dinner.splits.select_related("expense").get(pk=stage.eds.pk)
    stage.dinner.remove_split(split, by=stage.olga)
    for again in (stale.remove, partial(stage.dinner.remove_split, split)):
        before = everything_stored()
        with pytest.raises(NotFound):
            again(by=stage.olga)
        assert everything_stored() == before


# -- Races at a chosen moment ---------------------------------------------------------------------


def codes(answers: list[httpx.Response]) -> list[tuple[int, str]]:
    return sorted((a.status_code, "" if a.is_success else a.json()["code"]) for a in answers)


def test_two_adds_that_meet_before_the_row_is_written_make_one_member(
    server: Server, journey: Journey, travellers: list[Traveller]
) -> None:
    owner, user, *_others = travellers
    path, body = f"{journey.path}/members", {"userId": user.id}
    adding = [lambda: owner.call("POST", path, body)] * 3
    answers = while_held(server, "users_user", user.id, adding)
    assert codes(answers) == [(201, ""), *[(409, "already_member")] * 2]


def test_of_two_who_remove_the_same_member_the_second_finds_nobody(
    server: Server, journey: Journey, travellers: list[Traveller]
) -> None:
    owner, user, *_others = travellers
    journey.admit(user)
    path = f"{journey.path}/members/{user.id}"
    removing = [lambda: owner.call("DELETE", path)] * 2
    answers = while_held(server, "trips_trip", journey.id, removing)
    assert codes(answers) == [(204, ""), (404, "not_found")]


def test_an_owner_who_is_deleted_while_the_other_leaves_takes_no_owner_away(
    server: Server, http: httpx.Client, travellers: list[Traveller]
) -> None:
    admin, second, viewer, *_others = travellers
    first = sign_up(http)
    script = (
        f"from users.models import User; User.objects.filter(pk={admin.id}).update(role='ADMIN')"
    )
    server.manage("shell", "--no-imports", "-c", script)
    trip = Journey.start(first)
    trip.admit(second, "OWNER")
    trip.admit(viewer, "VIEWER")
    answers = while_held(
        server,
        "users_user",
        first.id,
        [
            lambda: admin.call("DELETE", f"/users/{first.id}"),
            lambda: second.call("POST", f"{trip.path}/members/leave"),
        ],
    )
    assert codes(answers) == [(204, ""), (409, "last_owner")]
    assert len(owners_of(trip, viewer)) == 1


def test_of_two_who_delete_the_same_the_second_finds_nothing(
    server: Server, journey: Journey, travellers: list[Traveller]
) -> None:
    owner, user, *_others = travellers
    journey.admit(user)
    expense = journey.spend(60, owner, user)
    split = next(s for s in expense["splits"] if s["participant"]["id"] == user.id)
    handed = user.done(
        "POST",
        f"{journey.path}/settlements",
        {"fromUserId": user.id, "toUserId": owner.id, "amount": 5},
    )
    for path in (
        split_path(split),
        f"{journey.path}/settlements/{handed['id']}",
        f"{journey.path}/expenses/{expense['id']}",
    ):
        deleting = [lambda p=path: owner.call("DELETE", p)] * 2
        answers = while_held(server, "trips_trip", journey.id, deleting)
        assert codes(answers) == [(204, ""), (404, "not_found")], path
        journey.adds_up()


def test_what_was_deleted_while_one_waited_is_neither_paid_nor_changed(
    server: Server, journey: Journey, travellers: list[Traveller]
) -> None:
    owner, user, *_others = travellers
    journey.admit(user)
    for act in ("pay", "unpay", "change"):
        expense = journey.spend(60, owner, user)
        split = next(s for s in expense["splits"] if s["participant"]["id"] == user.id)
        path = f"{journey.path}/expenses/{expense['id']}"
        late = (
            (lambda p=path: owner.call("PATCH", p, {"amount": 70}))
            if act == "change"
            else (lambda s=split, a=act: user.call("PUT", split_path(s, f"/{a}")))
        )
        delete = [lambda p=path: owner.call("DELETE", p), late]
        answers = while_held(server, "trips_trip", journey.id, delete)
        assert codes(answers) == [(204, ""), (404, "not_found")], act
        assert journey.rows("expenses") == journey.rows("settlements") == []
        journey.adds_up()


def test_whoever_writes_money_waits_for_the_trip_before_deciding(
    server: Server, journey: Journey, travellers: list[Traveller]
) -> None:
    """With the trip held, all of them stop: at its lock, or else behind what they decided."""
    owner, debtor, third, *_others = travellers
    for user in (debtor, third):
        journey.admit(user)

    def meeting(calls: list[Any]) -> list[tuple[int, str]]:
        outcome = codes(while_held(server, "trips_trip", journey.id, calls))
        journey.adds_up()
        return outcome

    split = journey.spend(60, debtor)["splits"][0]
    paying = [lambda: debtor.call("PUT", split_path(split, "/pay"))] * 3
    assert meeting(paying) == [(200, "")] * 3
    assert [row["amount"] for row in journey.rows("settlements")] == [60]

    path = f"{journey.path}/expenses"
    body = journey.expense_body(10, owner)
    assert meeting([lambda: owner.call("POST", path, body)] * 3) == [(201, "")] * 3

    expense = journey.spend(100, owner)
    owner.done("DELETE", split_path(expense["splits"][0]))
    splits = f"/expenses/{expense['id']}/splits"
    parts = [{"participantUserId": user.id, "amount": 60} for user in (debtor, third)]
    adding = [lambda p=part: owner.call("POST", splits, p) for part in parts]
    assert meeting(adding) == [(201, ""), (409, "exceeds_expense")]

    # Each covers the debt, as far as something is left of it; the rest is credit.
    handed = {"fromUserId": debtor.id, "toUserId": owner.id, "amount": 60}
    settling = [lambda: debtor.call("POST", f"{journey.path}/settlements", handed)] * 2
    assert meeting(settling) == [(201, "")] * 2

    tag = owner.call("GET", f"{journey.path}/settle-up").headers["ETag"].strip('"')
    booking = [lambda: owner.call("POST", f"{journey.path}/settle-up", {"tag": tag})] * 2
    assert meeting(booking) == [(201, ""), (409, "plan_changed")]
    server.manage("audit_ledger")


def test_two_settlements_that_square_a_trip_together_close_it(
    server: Server, journey: Journey, travellers: list[Traveller]
) -> None:
    """Neither does alone, and no debt is owed to who gets the money."""
    people = travellers[:6]
    for user in people[1:]:
        journey.admit(user)
    for debtor, creditor in ((0, 1), (1, 2), (3, 4), (4, 5)):
        body = journey.expense_body(10, people[debtor], paidByUserId=people[creditor].id)
        people[creditor].done("POST", f"{journey.path}/expenses", body)
    handed = [
        {"fromUserId": people[sender].id, "toUserId": people[receiver].id, "amount": 10}
        for sender, receiver in ((0, 2), (3, 5))
    ]
    path = f"{journey.path}/settlements"
    calls = [lambda b=body: people[0].call("POST", path, b) for body in handed]
    assert codes(while_held(server, "trips_trip", journey.id, calls)) == [(201, "")] * 2
    journey.adds_up()
    expenses = journey.rows("expenses")
    assert {split["paid"] for expense in expenses for split in expense["splits"]} == {True}
