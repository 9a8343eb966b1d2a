"""Names that a body or a query does not have are refused, with the names that there are."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.document import problem_of
from tests.factories import spend
from tests.trips.bodies import dinner, lisbon

pytestmark = pytest.mark.once

LENIENT = {"HTTP_PREFER": "respond-async, handling=lenient"}


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"categry": "FOOD"}, "category"),
        ({"Category": "FOOD"}, "category"),
        ({"catgeory": "FOOD"}, "category"),
        ({"paid_by_user_id": 7}, "paidByUserId"),
        ({"paidBy": 7}, "paidByUserId"),
        ({"paid_by": "7"}, "paidByUserId"),
        ({"paidBy": {"id": 2}}, "paidByUserId"),
        ({"expense_date": "2026-05-14"}, "expenseDate"),
        ({"receipt-url": "/x"}, "receiptUrl"),
        ({"participant": [1]}, "participantUserIds"),
    ],
)
def test_the_text_says_which_name_is_spelt_nearly_so(api, trip, olga, sent, meant):
    body = dinner(olga, **sent)
    document = problem_of(api(olga).post(f"/api/trips/{trip.pk}/expenses", body), 400)
    [name] = sent
    assert document["errors"] == {name: [f"There is no such field; did you mean {meant}?"]}
    assert document["detail"].startswith(f"{name}: ")
    assert not trip.expenses.exists()


def test_without_such_a_name_the_text_has_all(api, trip, olga):
    [text] = problem_of(api(olga).post("/api/trips", lisbon(payerId=7)), 400)["errors"]["payerId"]
    assert text.startswith("There is no such field. There are: title, destination, ")
    assert all(name in text for name in lisbon())


@pytest.mark.parametrize(
    ("path", "query", "meant"),
    [
        ("/expenses", "pagesize=5", "did you mean pageSize?"),
        ("/expenses", "limit=1", "There are: category, clientId, "),
        ("/expenses", "date_from=2026-05-01", "did you mean dateFrom?"),
        ("/balances", "search=x", "There are: format."),
        ("", "search=x", "There are: format."),
    ],
)
def test_the_text_for_a_query_does_so_too(api, trip, olga, path, query, meant):
    response = api(olga).get(f"/api/trips/{trip.pk}{path}?{query}")
    [texts] = problem_of(response, 400)["errors"].values()
    assert meant in texts[0]


def test_a_list_that_cannot_be_searched_says_so(api, trip, olga):
    refused = api(olga).get(f"/api/trips/{trip.pk}/settlements?search=lisbon")
    [texts] = problem_of(refused, 400)["errors"].values()
    assert texts == [
        "There is no such field. There are: clientId, deleted, format, page, pageSize."
    ]


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/expenses", "dateFrom=2026-05-01&dateFrom="),
        ("/expenses", "ordering=amount&ordering=-amount"),
        ("/expenses", "page=1&page=1"),
        ("/balances", "format=json&format=json"),
    ],
)
def test_a_parameter_of_one_value_is_sent_once(api, trip, olga, path, query):
    client, name = api(olga), query.rpartition("&")[2].partition("=")[0]
    document = problem_of(client.get(f"/api/trips/{trip.pk}{path}?{query}"), 400)
    assert document["errors"] == {name: ["Send this parameter once."]}
    assert client.get(f"/api/trips/{trip.pk}{path}?{query}", **LENIENT).status_code == 200


# -- What was read is sent back -------------------------------------------------------------------


def test_a_payer_as_it_was_read_is_understood(api, trip, olga, ed, vera):
    spend(trip, 1000, paid_by=olga, among=[olga, ed])
    client = api(olga)
    [expense] = client.get(f"/api/trips/{trip.pk}/expenses").json()["items"]
    path = f"/api/trips/{trip.pk}/expenses/{expense['id']}"
    assert client.patch(path, {"payers": expense["payers"]}).json()["payers"] == expense["payers"]
    another = [{"user": {"id": ed.pk}, "amount": 10}]
    document = problem_of(client.patch(path, {"payers": another}), 400)
    text = "Only responses have this field, and its value differs: send userId."
    assert document["errors"] == {"payers.0.user": [text]}
    document = problem_of(client.patch(path, {**expense, "paidBy": {"id": ed.pk}}), 400)
    text = "Only responses have this field, and its value differs: send paidByUserId."
    assert document["errors"] == {"paidBy": [text]}
    made = client.post(f"/api/trips/{trip.pk}/expenses", dinner(olga, id=7))
    assert problem_of(made, 400)["errors"].keys() == {"id"}


def test_amounts_of_an_equal_division_are_refused(api, trip, olga):
    path = f"/api/trips/{trip.pk}/expenses"
    body = dinner(olga, splitAmounts={str(olga.pk): 10})
    assert problem_of(api(olga).post(path, body), 400)["errors"].keys() == {"splitAmounts"}
    for nothing in ({}, None):
        body["splitAmounts"] = nothing
        assert api(olga).post(path, body).status_code == 201


# -- How it is preferred --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preference", "is_lenient"),
    [
        ("handling=lenient", True),
        ("Handling = Lenient; x=1", True),
        ('return=minimal, handling="lenient"', True),
        ("handling=strict, handling=lenient", False),
        ("handling=strict", False),
        ("lenient", False),
        ("", False),
    ],
)
def test_of_a_preference_the_first_counts(api, olga, preference, is_lenient):
    response = api(olga).get("/api/trips?colour=blue", HTTP_PREFER=preference)
    assert response.status_code == (200 if is_lenient else 400)
    assert ("Preference-Applied" in response) is is_lenient


# -- Many and long names --------------------------------------------------------------------------


def test_of_many_unknown_names_some_are_told(api, olga):
    body = lisbon(**{f"x{number}": 1 for number in range(40_000)})
    errors: Mapping[str, Any] = problem_of(api(olga).post("/api/trips", body), 400)["errors"]
    assert list(errors) == [f"x{number}" for number in range(20)]


def test_of_a_long_name_only_its_beginning_is_repeated(api, olga):
    response = api(olga).post("/api/trips", lisbon(**{"a" * 900_000: 1}))
    assert problem_of(response, 400)["errors"].keys() == {"a" * 64}
    assert len(response.content) < 2000
