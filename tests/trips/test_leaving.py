"""Leaving and removing: with a balance of zero, never the last owner, and back again."""

import pytest

from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory, join, owned_trip, spend
from tests.scoped import script_of
from tests.users.logins import bearer
from trips.roles import TripRole

pytestmark = pytest.mark.either


@pytest.fixture(params=["leaves", "is removed", "is removed by ADMIN"])
def go(request, api, olga, ada):
    """`go(trip, user)`: the user leaves or is removed."""

    def leave(trip, user):
        return api(user).post(f"/api/trips/{trip.pk}/members/leave")

    def removed_by(owner):
        return lambda trip, user: api(owner).delete(f"/api/trips/{trip.pk}/members/{user.pk}")

    ways = {"leaves": leave, "is removed": removed_by(olga), "is removed by ADMIN": removed_by(ada)}
    return ways[request.param]


def test_who_goes_is_a_stranger_at_once(api, trip, vera, go):
    client = api(vera)
    response = go(trip, vera)
    assert (response.status_code, response.content) == (204, b"")
    assert client.get(f"/api/trips/{trip.pk}").status_code == 404
    assert client.get("/api/trips").json()["total"] == 0


def test_who_goes_is_no_member_for_the_others_either(api, trip, olga, vera, go):
    go(trip, vera)
    client = api(olga)
    listed = client.get(f"/api/trips/{trip.pk}/members").json()
    assert [member["user"]["name"] for member in listed] == ["Olga Owner", "Ed Editor"]
    assert client.get(f"/api/trips/{trip.pk}").json()["members"] == listed
    assert client.get(f"/api/trips/{trip.pk}/members/{vera.pk}").status_code == 404


def test_nobody_goes_twice(api, trip, olga, vera, go):
    assert go(trip, vera).status_code == 204
    assert go(trip, vera).status_code == 404


@pytest.mark.parametrize(
    ("amount_minor", "who", "balance"),
    [(2469, "vera", "-12.34"), (2468, "ed", "12.34"), (100000, "vera", "-500.00")],
)
def test_who_owes_or_is_owed_cannot_go_and_reads_how_much(
    api, trip, request, go,
    amount_minor, who, balance,
):  # fmt: skip
    """T91: A member with an open balance cannot leave."""
    ed, vera, olga = (request.getfixturevalue(name) for name in ("ed", "vera", "olga"))
    payer = ed if who == "ed" else olga
    spend(trip, amount_minor, paid_by=payer, among=[payer, vera])
    user = request.getfixturevalue(who)
    before = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    response = go(trip, user)
    problem_of(response, 409, "balance_open")
    for text in (response.json()["detail"], response.json()["message"]):
        assert f" {balance} EUR" in text
    assert api(user).get(f"/api/trips/{trip.pk}").status_code == 200
    assert api(olga).get(f"/api/trips/{trip.pk}/balances").json() == before


def test_the_balance_reads_as_the_currency_writes_it(api, olga, ed, go):
    trip = owned_trip(olga, currency="JPY")
    join(trip, ed)
    spend(trip, 2400, paid_by=olga, among=[olga, ed])
    response = go(trip, ed)
    problem_of(response, 409, "balance_open")
    assert " -1200 JPY" in response.json()["detail"]


def test_who_has_settled_can_go(api, trip, olga, vera, go):
    expense = spend(trip, 2000, paid_by=olga, among=[olga, vera])
    problem_of(go(trip, vera), 409, "balance_open")
    split = expense.splits.get(participant=vera)
    api(vera).put(f"/api/expenses/{expense.pk}/splits/{split.pk}/pay")
    assert go(trip, vera).status_code == 204
    balances = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    assert {row["user"]["id"]: row["balance"] for row in balances}[vera.pk] == 0


def test_the_last_owner_cannot_go(api, trip, olga, go):
    """T70: The last OWNER cannot leave or be removed, nor step down."""
    problem_of(go(trip, olga), 409, "last_owner")
    assert api(olga).get(f"/api/trips/{trip.pk}").json()["currentUserRole"] == "OWNER"


def test_the_last_owner_cannot_go_even_as_the_only_member(api, olga, go):
    trip = owned_trip(olga)
    problem_of(go(trip, olga), 409, "last_owner")


def test_who_left_can_come_back_with_another_role(api, trip, olga, ed, go):
    before = api(olga).get(f"/api/trips/{trip.pk}/members/{ed.pk}").json()
    assert go(trip, ed).status_code == 204
    body = {"userId": ed.pk, "role": "OWNER"}
    response = api(olga).post(f"/api/trips/{trip.pk}/members", body)
    member = response.json()
    assert response.status_code == 201
    assert member["role"] == "OWNER"
    assert member["joinedAt"] > before["joinedAt"]
    assert api(ed).get(f"/api/trips/{trip.pk}").json()["currentUserRole"] == member["role"]
    listed = api(olga).get(f"/api/trips/{trip.pk}/members").json()
    assert listed[-1] == member
    assert len(listed) == 3


def test_who_comes_back_finds_the_old_entries(api, trip, olga, ed, go):
    expense = spend(trip, 2000, paid_by=olga, among=[olga, ed])
    split = expense.splits.get(participant=ed)
    api(ed).put(f"/api/expenses/{expense.pk}/splits/{split.pk}/pay")
    before = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    go(trip, ed)
    api(olga).post(f"/api/trips/{trip.pk}/members", {"userId": ed.pk})
    after = api(ed).get(f"/api/trips/{trip.pk}/balances").json()
    assert sorted(before, key=str) == sorted(after, key=str)
    response = api(ed).put(f"/api/expenses/{expense.pk}/splits/{split.pk}/unpay")
    assert response.json()["paid"] is False


def test_an_owner_who_cannot_log_in_does_not_count(api, trip, olga, ed, sam):
    second = UserFactory()
    join(trip, second, TripRole.OWNER)
    second.deactivate(by=None)
    path = f"/api/trips/{trip.pk}"
    problem_of(api(olga).post(f"{path}/members/leave"), 409, "last_owner")
    role = api(olga).put(f"{path}/members/{olga.pk}/role", {"role": "EDITOR"})
    problem_of(role, 409, "last_owner")
    gone = api(olga).delete("/api/users/me", {"password": PASSWORD})
    assert gone.json()["obstacles"][0]["reason"] == "last_owner"
    olga.deactivate(by=None)
    assert [str(found) for found in differences(trip.pk)] == [
        f"trip {trip.pk}: it has members but no owner who can log in"
    ]
    problem_of(api(ed).post(f"{path}/members", {"userId": sam.pk}), 409, "no_owner")


def test_a_token_that_sees_no_balances_is_not_told_its_own(trip, olga, ed):
    spend(trip, 1250, paid_by=olga, among=[ed])
    path = f"/api/trips/{trip.pk}/members/leave"
    refused = bearer(script_of(ed, "trips:write").token).post(path)
    problem_of(refused, 409, "balance_open")
    assert "12" not in refused.json()["detail"]
    seeing = bearer(script_of(ed, "trips:write", "expenses:read").token).post(path)
    assert "-12.5" in seeing.json()["detail"]
