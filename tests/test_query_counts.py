"""Reading costs a constant number of queries, however many rows there are."""

import re
from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from splits.models import Debt, Rate
from tests.compiled_only import queries_of_parts
from tests.document import largest_page
from tests.factories import UserFactory, join, owned_trip, settle, spend
from tests.trips.access import endpoints
from tests.trips.bodies import dinner
from tests.users.logins import bearer
from tests.walked import all_of, answers, merged
from users.models import ScopedToken, Session
from users.scopes import Scope

pytestmark = pytest.mark.either

#: More than a page has.
SMALL, LARGE = 10, 110

#: Queries of each GET. The first of those that need a log-in finds the session with its user.
QUERIES = {
    "/api/users/me": 1,
    "/api/users/me/sessions": 3,
    "/api/users/me/tokens": 3,
    "/api/users/me/tokens/{token_id}": 2,
    "/api/users/email/{email}": 2,
    "/api/users/{user_id}": 2,
    "/api/users/{user_id}/pending-debts": 2,
    "/api/users/{user_id}/total-debt": 2,
    "/api/expenses/users/{user_id}/pending-debts": 2,
    "/api/expenses/users/{user_id}/total-debt": 2,
    "/api/trips": 2,
    "/api/trips/my-trips": 2,
    "/api/trips/{trip_id}": 2 + queries_of_parts(1),
    "/api/trips/{trip_id}/members": 3,
    "/api/trips/{trip_id}/members/{user_id}": 2,
    "/api/trips/{trip_id}/expenses": 2 + queries_of_parts(2),
    "/api/trips/{trip_id}/expenses/{expense_id}": 2 + queries_of_parts(2),
    "/api/trips/{trip_id}/settlements": 3,
    "/api/trips/{trip_id}/settlements/{settlement_id}": 2,
    "/api/trips/{trip_id}/balances": 2,
    "/api/trips/{trip_id}/settle-up": 3,
    "/api/expenses/{expense_id}/splits": 3,
    "/api/expenses/{expense_id}/splits/{split_id}": 2,
    "/api/currencies": 0,
    "/api/categories": 0,
    "/api/users/login/methods": 0,
    "/api/health": 0,
    "/api/health/ready": 1,
    "/api/schema": 0,
    "/api/docs": 0,
    "/api/session/login": 0,
    **merged("QUERIES"),
}
#: Those whose rows there are many of.
LISTS = {
    "/api/users/me/sessions",
    "/api/users/me/tokens",
    "/api/users/{user_id}/pending-debts",
    "/api/expenses/users/{user_id}/pending-debts",
    "/api/trips",
    "/api/trips/my-trips",
    "/api/trips/{trip_id}/members",
    "/api/trips/{trip_id}/expenses",
    "/api/trips/{trip_id}/settlements",
    "/api/trips/{trip_id}/balances",
    "/api/trips/{trip_id}/settle-up",
    "/api/expenses/{expense_id}/splits",
    *all_of("LISTS"),
}


@pytest.fixture(params=[SMALL, LARGE])
def rows(request):
    """How many there are of everything."""
    return request.param


@pytest.fixture
def ids(rows, trip, olga, ed):
    """A trip with so many members, expenses, splits, settlements and open debts of Ed's."""
    people = UserFactory.create_batch(rows)
    for user in people:
        join(trip, user)
    whole = spend(trip, rows * 100, paid_by=olga, among=[ed, *people])
    for at in range(rows):
        day = date(2026, 5, 1) + timedelta(days=at % 30)
        payers = {olga.pk: 600 + at, people[at].pk: 400}
        spend(
            trip, 1000 + at, paid_by=olga, among=[ed, olga], paid_by_user=payers, expense_date=day
        )
        settlement = settle(trip, people[at], olga, 5, by=olga)
        owned_trip(olga)
        Session.start(olga)
    # More than anybody may make, so that the list is as long as the others.
    token = ScopedToken.issue(olga, name="Import", scopes=["trips:read"], trip_id=trip.pk)
    values = {field.attname: getattr(token, field.attname) for field in token._meta.fields}
    ScopedToken.objects.bulk_create(
        ScopedToken(**values | {"id": None, "digest": f"{at:064}"}) for at in range(rows)
    )
    of_plugins = [many(trip, olga, people, whole) for many in answers("many")]
    return {
        "token_id": token.pk,
        "user_id": olga.pk,
        "email": ed.email,
        "trip_id": trip.pk,
        "expense_id": whole.pk,
        "split_id": whole.splits.get(participant=ed).pk,
        "settlement_id": settlement.pk,
        **dict(item for made in of_plugins for item in made.items()),
    }


def queries_of(call):
    with CaptureQueriesContext(connection) as captured:
        answer = call()
    return len(captured), answer


def test_every_get_costs_its_constant_however_many_rows_there_are(api, rows, ids, ed, olga):
    """T64: The number of queries of a list does not grow with its rows."""
    counted = {}
    for route in QUERIES:
        # The debts are Ed's, everything else is read by Olga.
        reader = ed if "debt" in route else olga
        client = api(reader)
        url = route.format(**ids | {"user_id": reader.pk}) + largest_page(route)
        counted[route], response = queries_of(lambda c=client, u=url: c.get(u))
        assert response.status_code == 200
        if route in LISTS:
            shown = response.json()
            items = shown["items"] if isinstance(shown, dict) else shown
            assert len(items) >= min(rows, 100), route
    assert counted == QUERIES


@pytest.mark.parametrize("method", ["get", "patch"])
def test_a_scoped_token_costs_as_much_as_a_log_in(api, trip, olga, method):
    """Both but for noting that it is used, which happens once in a while."""
    token = ScopedToken.issue(olga, name="Import", scopes=list(Scope))
    counted, path = [], f"/api/trips/{trip.pk}"
    for client in (api(olga), bearer(token.token)):
        client.get("/api/trips")
        calls = {
            "get": lambda c=client: c.get(path),
            "patch": lambda c=client: c.patch(path, {"title": f"Porto {len(counted)}"}),
        }
        queries, response = queries_of(calls[method])
        assert response.status_code == 200
        counted.append(queries)
    assert counted[0] == counted[1]


def test_every_get_of_the_url_map_is_counted():
    served = {end.route for end in endpoints() if end.method == "GET"}
    assert served == set(QUERIES)
    assert set(QUERIES) >= LISTS


@pytest.mark.parametrize("currencies", [["USD"], ["USD", "JPY", "KWD", "GBP", "CHF", "SEK", "NOK"]])
def test_the_total_debt_costs_the_same_in_one_foreign_currency_and_in_many(
    api, olga, ed, currencies
):
    for currency in currencies:
        Rate.objects.create(currency=currency, per_euro=2, day=date(2026, 5, 14))
        trip = owned_trip(olga, currency=currency)
        join(trip, ed)
        spend(trip, 100_000, paid_by=olga, among=[ed])
    client = api(ed)
    counted, response = queries_of(lambda: client.get(f"/api/users/{ed.pk}/total-debt"))
    assert response.json() > 0
    # The rates are one more, and the debts are read again to be of the same moment.
    assert counted == QUERIES["/api/users/{user_id}/total-debt"] + 2


def test_paying_costs_the_same_with_10_and_with_60_debts(api, trip, olga, ed, vera):
    """Each round starts with debts of Ed's to Vera, and none is left after it."""
    client = api(olga)
    settlements = f"/api/trips/{trip.pk}/settlements"
    rounds = []
    for debts in (SMALL, 60):
        expenses = [spend(trip, 1000, paid_by=vera, among=[ed]) for _debt in range(debts)]
        split = f"/api/expenses/{expenses[0].pk}/splits/{expenses[0].splits.get().pk}"
        body = {"fromUserId": ed.pk, "toUserId": vera.pk, "amount": 10 * debts}
        calls = {
            "pay": lambda at=split: client.put(f"{at}/pay"),
            "unpay": lambda at=split: client.put(f"{at}/unpay"),
            "settle": lambda sent=body: client.post(settlements, sent),
            "unsettle": lambda: client.delete(f"{settlements}/{trip.settlements.last().pk}"),
            "settle again": lambda sent=body: client.post(settlements, sent),
        }
        counted = {}
        for name, act in calls.items():
            counted[name], response = queries_of(act)
            assert response.status_code in {200, 201, 204}
        rounds.append(counted)
        assert not Debt.objects.open().exists()
    assert rounds[0] == rounds[1]


@pytest.mark.parametrize("people", [1, 10])
def test_an_expense_among_one_or_ten_takes_the_same_statements(api, trip, olga, people):
    participants = UserFactory.create_batch(people)
    for user in participants:
        join(trip, user)
    body = dinner(*participants)
    client = api(olga)
    client.post(f"/api/trips/{trip.pk}/expenses", body)
    with CaptureQueriesContext(connection) as captured:
        response = client.post(f"/api/trips/{trip.pk}/expenses", body)
    assert response.status_code == 201
    assert len(response.json()["splits"]) == people
    assert [shortened(query["sql"]) for query in captured] == [
        "SELECT users_session",
        "SELECT trips_trip",
        "SAVEPOINT",
        "SELECT trips_trip",
        "SELECT trips_member",
        "UPDATE trips_trip",
        "INSERT splits_expense",
        "INSERT splits_payer",
        "UPDATE trips_member",
        "INSERT splits_split",
        "INSERT splits_debt",
        "SELECT splits_settlement",
        "INSERT trips_journalentry",
        "RELEASE",
    ]


def test_paying_without_credit_takes_these_statements(api, trip, olga, ed):
    first, second = (spend(trip, 1000, paid_by=olga, among=[ed]) for _time in range(2))
    client = api(ed)
    paths = [
        f"/api/expenses/{expense.pk}/splits/{expense.splits.get().pk}/pay"
        for expense in (first, second)
    ]
    with CaptureQueriesContext(connection) as captured:
        assert client.put(paths[0]).status_code == 200
    statements = [
        "SELECT users_session",
        "SELECT splits_split",
        "SAVEPOINT",
        "SELECT trips_trip",
        "SELECT splits_split",
        *["SELECT splits_debt"] * queries_of_parts(1),
        "INSERT splits_settlement",
        "INSERT splits_allocation",
        "UPDATE trips_member",
        "UPDATE splits_debt",
        "INSERT trips_journalentry",
        "RELEASE",
    ]
    assert [shortened(query["sql"]) for query in captured] == statements
    # Only if their own balances are zero then, it asks for those of the others.
    with CaptureQueriesContext(connection) as captured:
        assert client.put(paths[1]).status_code == 200
    settled = [shortened(query["sql"]) for query in captured]
    shared = statements.index("UPDATE splits_debt") + 1
    assert settled[:shared] == statements[:shared]
    assert settled[shared] == "SELECT trips_member"


def shortened(sql):
    """What a statement does, and with which table first."""
    verb = sql.split()[0]
    table = re.match(r"(?:SELECT|INSERT INTO|UPDATE) \"?(\w+)", sql)
    return f"{verb} {table[1]}" if table and verb != "SAVEPOINT" else verb
