"""A guest is merged with a member: entries add up, and nobody else's amounts move by a cent."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from splits.models import ClosedPeriod, Debt, Expense, Settlement
from splits.reports.audit import differences
from tests.conftest import Api
from tests.document import problem_of
from tests.factories import add_guest, settle, spend
from tests.splits.histories import DECIMALS, DIVISION
from tests.splits.ledger import exact
from tests.splits.scripted_history import STEPS, ScriptedHistory, history_with_guest, play
from trips.models import Trip
from users.models import User


@pytest.fixture
def grandma(trip: Trip) -> User:
    return add_guest(trip)


def merge(api: Api, trip: Trip, guest: User, into: User, by: User, **body: Any) -> Any:
    path = f"/api/trips/{trip.pk}/guests/{guest.pk}/merge"
    return api(by).post(path, {"userId": into.pk, **body})


def open_debts(trip: Trip, names: dict[int, int]) -> Counter[tuple[int, int]]:
    """What everybody owes to everybody, with some people under another id."""
    owed: Counter[tuple[int, int]] = Counter()
    for debt in Debt.objects.open().filter(trip=trip):
        pair = [names.get(user, user) for user in (debt.debtor_id, debt.creditor_id)]
        if pair[0] != pair[1]:
            owed[pair[0], pair[1]] += debt.open_minor
    return owed


def balances(trip: Trip, names: dict[int, int]) -> Counter[int]:
    sums: Counter[int] = Counter()
    for member in trip.members.all():
        sums[names.get(member.user_id, member.user_id)] += member.balance_minor
    return sums


def test_parts_and_payments_add_up_and_what_is_between_the_two_vanishes(
    api: Api, trip: Trip, olga: User, ed: User, vera: User, grandma: User
) -> None:
    dinner = spend(trip, 9000, paid_by=olga, among=[olga, ed, grandma])
    boat = spend(
        trip,
        6000,
        paid_by=olga,
        paid_by_user={grandma.pk: 4000, ed.pk: 2000},
        among=[ed, vera, grandma],
    )
    settle(trip, grandma, ed, 500, by=olga)
    settle(trip, grandma, olga, 1000, by=olga)
    before = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    preview = merge(api, trip, grandma, ed, olga, dryRun=True)
    assert preview.status_code == 200
    assert api(olga).get(f"/api/trips/{trip.pk}/balances").json() == before
    merged = merge(api, trip, grandma, ed, olga)
    assert merged.json() == preview.json()
    told = merged.json()
    assert (told["expenses"], told["settlements"]) == (2, 2)
    assert (told["guest"]["name"], told["user"]["name"]) == ("Grandma", "Ed Editor")
    assert (told["balanceBefore"], told["balanceAfter"]) == (-35, -30)
    after = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    assert {row["user"]["name"]: row["balance"] for row in after} == {
        "Olga Owner": 50,
        "Ed Editor": -30,
        "Vera Viewer": -20,
    }
    shown = api(ed).get(f"/api/trips/{trip.pk}/expenses/{dinner.pk}").json()
    assert shown["splitType"] == "SHARES"
    assert [(row["amount"], row["paidAmount"]) for row in shown["splits"]] == [(30, 30), (60, 10)]
    shown = api(ed).get(f"/api/trips/{trip.pk}/expenses/{boat.pk}").json()
    assert [row["amount"] for row in shown["payers"]] == [60]
    assert not User.objects.filter(pk=grandma.pk).exists()
    assert list(differences(trip.pk)) == []


def test_only_a_guest_is_merged_and_only_with_another_present_member(
    api: Api, trip: Trip, olga: User, ed: User, vera: User, sam: User, grandma: User
) -> None:
    problem_of(merge(api, trip, ed, vera, olga), 409, "not_a_guest")
    problem_of(merge(api, trip, sam, vera, olga), 404, "not_found")
    api(vera).post(f"/api/trips/{trip.pk}/members/leave")
    for user in (sam, vera, grandma):
        refused = merge(api, trip, grandma, user, olga)
        assert list(problem_of(refused, 400, "invalid")["errors"]) == ["userId"]
    refused = merge(api, trip, grandma, ed, olga, dryRun="yes")
    assert list(problem_of(refused, 400, "invalid")["errors"]) == ["dryRun"]
    assert trip.members.filter(user=grandma).exists()


def test_two_guests_are_merged_and_then_claimed(
    api: Api, trip: Trip, olga: User, ed: User, sam: User, grandma: User
) -> None:
    granny = add_guest(trip, "Granny")
    dinner = spend(trip, 1000, paid_by=olga, among=[ed, grandma, granny])
    assert merge(api, trip, granny, grandma, olga).status_code == 200
    assert accept(api, trip, olga, grandma, sam).status_code == 201
    assert list(differences(trip.pk)) == []
    parts = dinner.splits.values_list("participant__name", "amount_minor")
    assert sorted(parts) == [("Ed Editor", 334), ("Sam Stranger", 666)]
    # Divided again, the larger remainder gets the odd cent.
    path = f"/api/trips/{trip.pk}/expenses/{dinner.pk}"
    assert api(olga).patch(path, {"notes": "Nice."}).status_code == 200
    assert sorted(dinner.splits.values_list("amount_minor", flat=True)) == [334, 666]
    assert api(olga).patch(path, {"amount": 10.01}).status_code == 200
    assert sorted(dinner.splits.values_list("amount_minor", flat=True)) == [334, 667]
    assert Expense.objects.get().merged == ""
    assert list(differences(trip.pk)) == []


def accept(api: Api, trip: Trip, by: User, guest: User, user: User) -> Any:
    path = f"/api/trips/{trip.pk}/invitations"
    token = api(by).post(path, {"guestUserId": guest.pk, "role": "EDITOR"}).json()["token"]
    return api(user).post(f"/api/invitations/{token}/accept")


def test_a_member_who_accepts_takes_the_place_of_the_guest_too(
    api: Api, trip: Trip, olga: User, ed: User, vera: User, grandma: User
) -> None:
    spend(trip, 900, paid_by=olga, among=[vera, ed, grandma])
    answer = accept(api, trip, olga, grandma, vera)
    assert (answer.status_code, answer.json()["role"]) == (201, "VIEWER")
    rows = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    assert [row["balance"] for row in rows] == [9, -3, -6]
    assert list(differences(trip.pk)) == []


def test_a_former_member_who_accepts_comes_back(
    api: Api, trip: Trip, olga: User, ed: User, vera: User, grandma: User
) -> None:
    spend(trip, 900, paid_by=olga, among=[olga, vera, grandma])
    settle(trip, vera, olga, 300, by=olga)
    assert api(vera).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    answer = accept(api, trip, olga, grandma, vera)
    assert (answer.status_code, answer.json()["role"]) == (201, "EDITOR")
    rows = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    assert {row["user"]["name"]: row["balance"] for row in rows}["Vera Viewer"] == -3
    assert list(differences(trip.pk)) == []


def test_what_a_vanishing_settlement_closed_stays_closed(
    api: Api, trip: Trip, olga: User, ed: User, vera: User, grandma: User
) -> None:
    spend(trip, 500, paid_by=olga, among=[vera])
    spend(trip, 500, paid_by=olga, paid_by_user={vera.pk: 500}, among=[olga])
    spend(trip, 700, paid_by=ed, among=[grandma])
    first = settle(trip, vera, ed, 100, by=olga)
    settle(trip, ed, vera, 100, by=olga)
    closing = settle(trip, grandma, ed, 700, by=olga)
    assert ClosedPeriod.objects.get().settlement == closing
    assert merge(api, trip, grandma, ed, olga).status_code == 200
    assert not open_debts(trip, {})
    assert list(differences(trip.pk)) == []
    assert ClosedPeriod.objects.get().settlement_id == first.pk + 1
    api(olga).delete(f"/api/trips/{trip.pk}/settlements/{first.pk + 1}")
    assert len(open_debts(trip, {})) == 2
    assert list(differences(trip.pk)) == []


def test_without_another_settlement_it_is_open_again(
    api: Api, trip: Trip, olga: User, ed: User, vera: User, grandma: User
) -> None:
    spend(trip, 500, paid_by=olga, among=[vera])
    spend(trip, 500, paid_by=olga, paid_by_user={vera.pk: 500}, among=[olga])
    spend(trip, 700, paid_by=ed, among=[grandma])
    settle(trip, grandma, ed, 700, by=olga)
    assert merge(api, trip, grandma, ed, olga).status_code == 200
    assert sorted(open_debts(trip, {}).values()) == [500, 500]
    assert list(differences(trip.pk)) == []


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    currency=st.sampled_from(sorted(DECIMALS)),
    expenses=st.lists(st.fixed_dictionaries(DIVISION), min_size=1, max_size=5),
    steps=STEPS,
    later=STEPS,
    into=st.integers(0, 2),
    in_foreign_currency=st.booleans(),
)
def test_no_merge_moves_a_cent_of_anybody_else(
    sam: User,
    api: Api,
    olga: User,
    ed: User,
    vera: User,
    ada: User,
    currency: str,
    expenses: list[dict[str, Any]],
    steps: Any,
    later: Any,
    into: int,
    in_foreign_currency: bool,
) -> None:
    with history_with_guest(api, [olga, ed, vera], ada, currency) as (history, guest):
        trip = history.ledger.trip
        foreign = {"currency": "USD", "exchangeRate": "1.2345"} if in_foreign_currency else {}
        for division in expenses:
            body = history.sent(**division).body | foreign
            # What is tiny in one currency may be nothing in another.
            history.send(ada, "post", "expenses", body)
        play(history, steps)
        user = history.callers[into]
        names = {guest.pk: user.pk}
        owed, sums = open_debts(trip, names), balances(trip, names)
        left = Settlement.objects.filter(trip=trip)
        both = {guest.pk, user.pk}
        between = [s for s in left if {s.sender_id, s.receiver_id} == both]
        reopens = left.count() == len(between) > 0
        answer = merge(api, trip, guest, user, ada)
        assert answer.status_code == 200
        assert list(differences(trip.pk)) == []
        assert balances(trip, {}) == sums
        if not reopens:
            assert open_debts(trip, {}) == owed
        told = exact(answer)
        assert history.minor(told["balanceAfter"]) == sums[user.pk]
        history.callers.remove(history.callers[3])
        del history.users[guest.pk]
        for expense in exact(history.send(ada, "get", "expenses?pageSize=100"))["items"]:
            path = f"expenses/{expense['id']}"
            assert history.send(ada, "patch", path, {"notes": "Was it?"}).status_code == 200
        assert balances(trip, {}) == sums
        play(history, later)
        for expense in exact(history.send(ada, "get", "expenses?pageSize=100"))["items"]:
            lines = {
                member.user_id: explained(history, member.user_id) for member in trip.members.all()
            }
            assert lines == dict(balances(trip, {}))
            history.send(ada, "patch", f"expenses/{expense['id']}", {"amount": "4.00"})
            assert list(differences(trip.pk)) == []
            assert history.send(ada, "delete", f"expenses/{expense['id']}").status_code == 204
            assert list(differences(trip.pk)) == []


def explained(history: ScriptedHistory, user_id: int) -> int:
    lines = exact(history.send(history.admin, "get", f"balances/{user_id}?pageSize=100"))["items"]
    return history.minor(lines[-1]["balance"]) if lines else 0
