"""Near misses of known names are refused with a hint; other unknown names are ignored."""

from typing import Any

import pytest

from tests.conftest import Api
from tests.document import problem_of
from tests.factories import spend
from tests.trips.bodies import lisbon
from tripcompanion.api.near_misses import _similar
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.once

STRICT = {"HTTP_PREFER": "respond-async, handling=strict"}


def dinner(user: User, **fields: Any) -> dict[str, Any]:
    return {
        "description": "Dinner",
        "amount": 10,
        "expenseDate": "2026-05-14",
        "splitType": "EQUAL",
        "participantUserIds": [user.pk],
        **fields,
    }


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"categry": "FOOD"}, "category"),
        ({"Category": "FOOD"}, "category"),
        ({"paid_by_user_id": 7}, "paidByUserId"),
        ({"paidBy": 7}, "paidByUserId"),
        ({"paidBy": "7"}, "paidByUserId"),
        ({"expense_date": "2026-05-14"}, "expenseDate"),
        ({"receipt-url": "/x"}, "receiptUrl"),
    ],
)
def test_a_near_miss_in_a_body_says_what_is_meant(
    api: Api, trip: Trip, olga: User, sent: dict[str, Any], meant: str
) -> None:
    path = f"/api/trips/{trip.pk}/expenses"
    document = problem_of(api(olga).post(path, dinner(olga, **sent)), 400)
    [name] = sent
    assert document["errors"] == {name: [f"There is no such field; did you mean {meant}?"]}
    assert not trip.expenses.exists()


def test_a_near_miss_in_a_nested_object_is_told_too(api: Api, trip: Trip, olga: User) -> None:
    body = dinner(olga, payers=[{"user_id": olga.pk, "amount": 10}])
    document = problem_of(api(olga).post(f"/api/trips/{trip.pk}/expenses", body), 400)
    assert "did you mean userId" in str(document["errors"])


def test_amounts_of_an_equal_division_are_refused(api: Api, trip: Trip, olga: User) -> None:
    path = f"/api/trips/{trip.pk}/expenses"
    body = dinner(olga, splitAmounts={str(olga.pk): 10})
    assert problem_of(api(olga).post(path, body), 400)["errors"].keys() == {"splitAmounts"}
    for nothing in ({}, None):
        body = dinner(olga, splitAmounts=nothing)
        assert api(olga).post(path, body).status_code == 201


def test_what_was_read_can_be_sent_back(api: Api, trip: Trip, olga: User, ed: User) -> None:
    spend(trip, 1000, paid_by=olga, among=[olga, ed])
    client = api(olga)
    expense = client.get(f"/api/trips/{trip.pk}/expenses").json()["items"][0]
    again = {**expense, "participantUserIds": [olga.pk, ed.pk], "anything": 1}
    path = f"/api/trips/{trip.pk}/expenses/{expense['id']}"
    assert client.put(path, again).status_code == 200
    assert client.patch(path, {**again, "notes": "Tasty"}).status_code == 200
    whole = client.get(f"/api/trips/{trip.pk}").json()
    assert client.put(f"/api/trips/{trip.pk}", whole).status_code == 200
    me = client.get("/api/users/me").json()
    assert client.put(f"/api/users/{olga.pk}/profile", me).status_code == 200


@pytest.mark.parametrize(
    ("split_type", "amounts"),
    [("EQUAL", None), ("MANUAL", (4, 6)), ("PERCENTAGE", (40, 60)), ("SHARES", (1, 2))],
)
def test_an_expense_as_it_was_read_is_a_patch_that_changes_nothing(
    api: Api, trip: Trip, olga: User, ed: User, split_type: str, amounts: Any
) -> None:
    client, path = api(olga), f"/api/trips/{trip.pk}/expenses"
    division = {"splitType": split_type, "participantUserIds": [olga.pk, ed.pk]}
    if amounts:
        division["splitAmounts"] = {olga.pk: amounts[0], ed.pk: amounts[1]}
    payers = [{"userId": ed.pk, "amount": 7}, {"userId": olga.pk, "amount": 3}]
    location = client.post(path, dinner(olga, payers=payers, **division))["Location"]
    read = client.get(location).json()
    answer = client.patch(location, read)
    assert (answer.status_code, answer.json()) == (200, read)


def test_every_unknown_name_is_refused_if_the_client_wants_so(api: Api, olga: User) -> None:
    body = lisbon(colour="blue")
    assert api(olga).post("/api/trips", body).status_code == 201
    document = problem_of(api(olga).post("/api/trips", body, **STRICT), 400)
    assert document["errors"] == {"colour": ["There is no such field."]}
    assert api(olga).post("/api/trips", lisbon(), **STRICT).status_code == 201


@pytest.mark.parametrize(("query", "meant"), [("pagesize=5", "pageSize"), ("pge=2", None)])
def test_a_near_miss_in_a_query_says_what_is_meant(
    api: Api, trip: Trip, olga: User, query: str, meant: str | None
) -> None:
    path = f"/api/trips/{trip.pk}/expenses?{query}"
    if meant is None:
        assert api(olga).get(path).status_code == 200
        problem_of(api(olga).get(path, **STRICT), 400)
        return
    document = problem_of(api(olga).get(path), 400)
    [name] = document["errors"]
    assert meant in document["errors"][name][0]


def test_filters_are_known_and_their_near_misses_told(api: Api, trip: Trip, olga: User) -> None:
    path = f"/api/trips/{trip.pk}/expenses"
    known = "dateFrom=2026-05-01&category=FOOD&search=x&ordering=amount&page=1&deleted=false"
    assert api(olga).get(f"{path}?{known}", **STRICT).status_code == 200
    problem_of(api(olga).get(f"{path}?date_from=2026-05-01"), 400)
    assert api(olga).get(f"/api/trips/{trip.pk}/history?event=x&by=1").status_code in {200, 400}
    problem_of(api(olga).get(f"/api/trips/{trip.pk}/history?evnt=trip.created"), 400)


def test_many_unknown_names_cost_little(api: Api, olga: User) -> None:
    body = lisbon(**{f"x{number}": 1 for number in range(20_000)})
    assert api(olga).post("/api/trips", body).status_code == 201


def test_of_a_long_name_only_its_beginning_is_kept(api: Api, olga: User) -> None:
    _similar.cache_clear()
    for end in ("x", "y", "z"):
        assert api(olga).post("/api/trips", lisbon(**{"a" * 100_000 + end: 1})).status_code == 201
    assert _similar.cache_info().currsize == 1
