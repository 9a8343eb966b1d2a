"""The browsable API for people: names, links, filters, and forms that send JSON."""

import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from splits.models import Expense, SplitType
from tests.compiled_only import PAGE_STATEMENTS
from tests.conftest import Api
from tests.factories import TripFactory, UserFactory, join, settle, spend
from trips.models import Trip
from trips.roles import TripRole
from users.models import User

pytestmark = pytest.mark.once

JSON_FORM = re.compile(r'aria-label="JSON">\n(.*?)</textarea>', re.S)


def page_of(user: User | None, path: str, language: str = "en", **query: str) -> str:
    """The page at `path` in a browser session of `user`."""
    client = Client(headers={"Accept": "text/html", "Accept-Language": language})
    if user:
        client.force_login(user)
    return client.get(path, query).content.decode()


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def forms_of(page: str) -> set[str]:
    """The methods of the buttons on the page."""
    return set(re.findall(r'<button[^>]* data-method="(\w+)"', page))


def links_of(page: str) -> set[str]:
    return set(re.findall(r'<a [^>]*href="(/api/[^"?]+)"', page))


def values_of(page: str) -> dict[str, str]:
    """The values of the inputs, selects and text areas by name."""
    found = {}
    for control in re.findall(r"<input [^>]*data-kind[^>]*>", page):
        name = re.search(r' name="([^"]+)"', control)[1]
        found[name] = re.search(r' value="([^"]*)"', control)[1]
    for attributes, options in re.findall(
        r"<select ([^>]*data-kind[^>]*)>(.*?)</select>", page, re.S
    ):
        chosen = re.search(r'value="([^"]*)" selected', options)
        found[re.search(r'name="([^"]+)"', attributes)[1]] = chosen[1] if chosen else ""
    for attributes, text in re.findall(
        r"<textarea ([^>]*data-kind[^>]*)>\n(.*?)</textarea>", page, re.S
    ):
        found[re.search(r'name="([^"]+)"', attributes)[1]] = text
    return {name: html.unescape(value) for name, value in found.items()}


@pytest.fixture
def expense(trip: Trip, olga: User, ed: User) -> Expense:
    trip.title = "Lisbon in May"
    trip.save()
    return spend(trip, 6250, paid_by=ed, among=[olga, ed], description="Dinner in Alfama")


# -- Names and links -------------------------------------------------------------------------------


def test_titles_and_breadcrumbs_have_the_names_of_what_they_show(
    olga: User, ed: User, trip: Trip, expense: Expense
) -> None:
    settlement = settle(trip, ed, olga, 100)
    split = expense.splits.get(participant=ed)
    in_trip = "API / Trips / Lisbon in May / "
    crumbs = {
        "/api/trips": "API / Trips",
        f"/api/trips/{trip.pk}": "API / Trips / Lisbon in May",
        f"/api/trips/{trip.pk}/expenses/{expense.pk}": in_trip + "Expenses / Dinner in Alfama",
        f"/api/expenses/{expense.pk}/splits/{split.pk}": (
            in_trip + "Expenses / Dinner in Alfama / Splits / Ed Editor"
        ),
        f"/api/trips/{trip.pk}/members/{ed.pk}/role": (
            in_trip + "Members / Ed Editor / Change the role"
        ),
        f"/api/trips/{trip.pk}/settlements/{settlement.pk}": (
            in_trip + "Settlements / Ed Editor → Olga Owner"
        ),
        f"/api/trips/{trip.pk}/balances/{ed.pk}": in_trip + "Balances / Ed Editor",
        f"/api/users/{olga.pk}/pending-debts": "API / Olga Owner / Pending debts",
    }
    for path, names in crumbs.items():
        page = page_of(olga, path)
        shown = re.search(r'<ul class="breadcrumb">(.*?)</ul>', page, re.S)[1]
        assert " / ".join(map(text_of, shown.split("</li>")[:-1])) == names
        last = names.split(" / ")[-1]
        assert text_of(re.search(r"<h1>(.*?)</h1>", page)[1]) == last
        title = text_of(re.search(r"<title>(.*?)</title>", page, re.S)[1])
        assert title.startswith(last)
        assert title.endswith("Trip Companion")


def test_each_resource_links_to_its_neighbours_and_its_rows(
    olga: User, ed: User, trip: Trip, expense: Expense
) -> None:
    split = expense.splits.get(participant=olga)
    in_trip = f"/api/trips/{trip.pk}"
    expected = {
        "/api/trips": {in_trip, "/api/trips/join"},
        in_trip: {
            "/api/trips",
            *(f"{in_trip}/{name}" for name in ("members", "expenses", "settlements", "balances")),
            *(f"{in_trip}/settle-up", f"{in_trip}/code"),
        },
        f"{in_trip}/expenses": {f"{in_trip}/expenses/{expense.pk}", f"{in_trip}/expenses/preview"},
        f"{in_trip}/expenses/{expense.pk}": {in_trip, f"/api/expenses/{expense.pk}/splits"},
        f"{in_trip}/members": {f"{in_trip}/members/{ed.pk}"},
        f"{in_trip}/balances": {f"{in_trip}/balances/{ed.pk}"},
        f"{in_trip}/balances/{ed.pk}": {f"{in_trip}/expenses/{expense.pk}"},
        f"/api/expenses/{expense.pk}/splits/{split.pk}": {
            in_trip,
            f"/api/expenses/{expense.pk}/splits/{split.pk}/pay",
        },
        f"/api/users/{olga.pk}/pending-debts": {f"/api/expenses/{expense.pk}/splits/{split.pk}"},
        "/api/users/me": {f"/api/users/{olga.pk}", "/api/users/me/tokens"},
    }
    for path, links in expected.items():
        assert links <= links_of(page_of(olga, path)), path


def test_the_pages_of_a_list_link_to_each_other(olga: User, trip: Trip, expense: Expense) -> None:
    spend(trip, 100, paid_by=olga, among=[olga])
    path = f"/api/trips/{trip.pk}/expenses"
    first = page_of(olga, path, pageSize="1", paidBy="")
    second = page_of(olga, path, pageSize="1", page="2")
    assert f'href="{path}?pageSize=1&amp;paidBy=&amp;page=2"' in first
    assert f'href="{path}?pageSize=1&amp;page=1"' in second
    assert "Next" not in second


def test_the_json_has_no_links(api: Api, olga: User, trip: Trip, expense: Expense) -> None:
    path = f"/api/trips/{trip.pk}/expenses/{expense.pk}"
    assert b"/api/" not in api(olga).get(path).content


def test_pages_are_in_spanish_and_fit_a_phone(olga: User, trip: Trip, expense: Expense) -> None:
    page = page_of(olga, f"/api/trips/{trip.pk}", "es")
    assert {"Viajes", "Miembros", "Gastos"} <= set(text_of(page).split())
    assert 'name="viewport"' in page
    login = page_of(None, "/api/session/login", "es")
    assert "<h1>Trip Companion</h1>" in login
    assert "Django" not in login
    assert "Iniciar sesión" in login
    assert 'name="viewport"' in login
    for inline in re.findall(r"<script(?![^>]* src=)[^>]*>", page + login):
        assert 'type="application/json"' in inline


# -- Forms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("olga", {"trip": "PUT PATCH DELETE", "expenses": "POST", "expense": "PUT PATCH DELETE"}),
        ("ed", {"expenses": "POST", "expense": "PUT PATCH DELETE", "members": "POST"}),
        ("vera", {"settlements": "POST"}),
        ("sam", {}),
    ],
)
def test_a_form_is_shown_only_for_what_the_role_may_do(
    request: pytest.FixtureRequest, trip: Trip, expense: Expense, name: str, forms: dict[str, str]
) -> None:
    """The expense is Ed's, so an EDITOR may change it."""
    user = request.getfixturevalue(name)
    in_trip = f"/api/trips/{trip.pk}"
    paths = {
        "trip": in_trip,
        "expenses": f"{in_trip}/expenses",
        "expense": f"{in_trip}/expenses/{expense.pk}",
        "members": f"{in_trip}/members",
        "settlements": f"{in_trip}/settlements",
        "balances": f"{in_trip}/balances",
        "splits": f"/api/expenses/{expense.pk}/splits",
        "code": f"{in_trip}/code",
        "preview": f"{in_trip}/expenses/preview",
        "role": f"{in_trip}/members/{trip.members.first().user_id}/role",
    }
    both = {"settlements": "POST"} if name in {"olga", "ed"} else {}
    both |= {"splits": "POST", "preview": "POST"} if name in {"olga", "ed"} else {}
    both |= {"members": "POST", "code": "POST", "role": "PUT"} if name == "olga" else {}
    shown = {place: forms_of(page_of(user, path)) for place, path in paths.items()}
    expected = {place: set((forms | both).get(place, "").split()) for place in paths}
    assert shown == expected


def test_the_plan_has_a_form_only_for_who_may_record_all_of_it(
    olga: User, vera: User, ed: User, trip: Trip, expense: Expense
) -> None:
    path = f"/api/trips/{trip.pk}/settle-up"
    page = page_of(olga, path)
    tag = re.search(r"ETag:</b> <span class=\"lit\">&quot;(\w+)&quot;", page)[1]
    assert values_of(page) == {"tag": tag}
    assert forms_of(page_of(ed, path)) == {"POST"}
    assert forms_of(page_of(vera, path)) == set()


def test_a_scoped_token_learns_no_names(olga: User, trip: Trip, expense: Expense) -> None:
    token = olga.scoped_tokens.model.issue(olga, name="Import", scopes=["expenses:read"])
    client = Client(headers={"Accept": "text/html", "Authorization": f"Bearer {token.token}"})
    for path in ("expenses", "expenses/preview", "settlements"):
        page = client.get(f"/api/trips/{trip.pk}/{path}").content.decode()
        assert "Lisbon in May" not in page
        assert forms_of(page) == set()


def test_a_change_is_prefilled_with_the_present_values(
    api: Api, olga: User, ed: User, vera: User, trip: Trip
) -> None:
    """Sending all of them back changes nothing."""
    by_type = {
        SplitType.EQUAL: None,
        SplitType.MANUAL: {olga.pk: 1000, ed.pk: 5250},
        SplitType.PERCENTAGE: {olga.pk: 250_000, ed.pk: 750_000},
        SplitType.SHARES: {olga.pk: 10_000, ed.pk: 15_000},
    }
    for split_type, entered in by_type.items():
        made = spend(
            trip, 6250, paid_by=ed, among=[olga, ed], split_type=split_type, entered=entered
        )
        path = f"/api/trips/{trip.pk}/expenses/{made.pk}"
        before = api(olga).get(path).json()
        page = page_of(olga, path)
        values = values_of(page)
        assert (values["amount"], values["expenseDate"]) == ("62.50", "2026-05-14")
        assert values["splitType"] == split_type
        body = html.unescape(JSON_FORM.search(page)[1])
        after = api(olga).put(path, body, content_type="application/json").json()
        assert after | {"updatedAt": before["updatedAt"]} == before


def test_the_form_of_a_role_or_profile_has_the_values_of_the_resource_above(
    olga: User, ed: User, trip: Trip
) -> None:
    role = page_of(olga, f"/api/trips/{trip.pk}/members/{ed.pk}/role")
    assert values_of(role) == {"role": "EDITOR"}
    profile = values_of(page_of(olga, f"/api/users/{olga.pk}/profile"))
    assert (profile["name"], profile["currency"]) == ("Olga Owner", "EUR")
    assert profile["newPassword"] == ""


def test_a_new_expense_is_prefilled_with_an_example_among_the_members(api: Api, trip: Trip) -> None:
    """The people of the examples are others, who are in no trip."""
    other = TripFactory()
    owner, *others = UserFactory.create_batch(4)
    for user in others:
        join(other, user)
    join(other, owner, TripRole.OWNER)
    path = f"/api/trips/{other.pk}/expenses"
    page = page_of(owner, path)
    examples = [html.unescape(raw) for raw in re.findall(r'<option value="({.*?)"', page, re.S)]
    assert len(examples) > 3
    assert html.unescape(JSON_FORM.search(page)[1]) == examples[0]
    for body in examples:
        made = api(owner).post(path, body, content_type="application/json")
        # An amount in another currency needs a stored rate.
        assert made.status_code == 201 or made.json()["code"] == "no_rate", made.json()


def test_an_error_shows_beside_the_field_with_what_was_sent(
    olga: User, trip: Trip, expense: Expense
) -> None:
    client = Client(headers={"Accept": "text/html"})
    client.force_login(olga)
    path = f"/api/trips/{trip.pk}/expenses"
    sent = {"description": "Boat", "amount": "-1", "splitType": "HALF", "splitAmounts": {"x": 1}}
    response = client.post(path, sent, "application/json")
    page = response.content.decode()
    assert response.status_code == 400
    values = values_of(page)
    assert (values["description"], values["amount"]) == ("Boat", "-1")
    groups = re.split(r'<div class="form-group', page)
    error = {
        name: text_of(group) for group in groups for name in re.findall(r' name="(\w+)"', group)
    }
    assert "Must be greater than 0." in error["amount"]
    assert "HALF" in error["splitType"]
    assert "This field is required." in error["expenseDate"]
    assert "greater" not in error["description"]
    assert '<details class="panel panel-default command" id="post-form" open>' in page
    lost = client.post("/api/trips/join", {"tripCode": "AAAAAAAA"}, "application/json")
    assert (lost.status_code, values_of(lost.content.decode())) == (404, {"tripCode": "AAAAAAAA"})


def test_the_filters_are_a_form_and_filter(olga: User, trip: Trip, expense: Expense) -> None:
    spend(trip, 100, paid_by=olga, among=[olga], description="Tram")
    path = f"/api/trips/{trip.pk}/expenses"
    page = page_of(olga, path)
    for control in ('type="date" name="dateFrom"', '<select name="category"', 'name="search"'):
        assert control in page
    empty = {"dateFrom": "", "dateTo": "", "category": "", "participant": "", "ordering": ""}
    found = page_of(olga, path, **empty, search="dinner", paidBy="")
    assert "Dinner in Alfama" in found
    assert "Tram" not in found
    assert 'name="currency"' in page_of(olga, f"/api/users/{olga.pk}/total-debt")


# -- Query counts ----------------------------------------------------------------------------------

#: Those of the JSON, and of the browser session, the names, the roles and the example.
QUERIES = {
    "/api/trips": 2 + PAGE_STATEMENTS,
    "/api/trips/{trip}": 6,
    "/api/trips/{trip}/members": 5,
    "/api/trips/{trip}/expenses": 7 + PAGE_STATEMENTS,
    "/api/trips/{trip}/expenses/{expense}": 7,
    "/api/trips/{trip}/settlements": 5 + PAGE_STATEMENTS,
    "/api/trips/{trip}/balances": 4,
    "/api/trips/{trip}/balances/{user}": 8,
    "/api/trips/{trip}/settle-up": 7,
    "/api/expenses/{expense}/splits": 6,
    "/api/expenses/{expense}/splits/{split}": 5,
    "/api/users/me": 2,
    "/api/users/{user}": 4,
    "/api/users/{user}/pending-debts": 3,
}


def test_a_page_costs_the_same_queries_with_3_and_with_15_rows(
    olga: User, ed: User, trip: Trip
) -> None:
    client = Client(headers={"Accept": "text/html"})
    client.force_login(olga)
    rounds = []
    for rows in (3, 12):
        people = UserFactory.create_batch(rows)
        for user in people:
            join(trip, user)
            join(TripFactory(), olga, TripRole.OWNER)
        trip = Trip.objects.get(pk=trip.pk)
        for user in people:
            expense = spend(trip, 3000, paid_by=ed, among=[olga, *people[:3]])
            settle(trip, user, olga, 5, by=olga)
        ids = {"trip": trip.pk, "expense": expense.pk, "user": olga.pk}
        ids["split"] = expense.splits.get(participant=olga).pk
        counted = {}
        for route in QUERIES:
            with CaptureQueriesContext(connection) as captured:
                response = client.get(route.format(**ids) + "?pageSize=100")
            assert response.status_code == 200
            counted[route] = len(captured)
        rounds.append(counted)
    assert rounds[0] == rounds[1] == QUERIES


# -- In a real browser -----------------------------------------------------------------------------


def test_a_page_links_to_a_large_response(api: Api, trip: Trip, olga: User) -> None:
    for _number in range(100):
        dinner = spend(trip, 1000, paid_by=olga, among=[olga])
        Expense.objects.filter(pk=dinner.pk).update(notes="x" * 2000)
    path = f"/api/trips/{trip.pk}/expenses"
    small = api(olga).get(f"{path}?pageSize=5", HTTP_ACCEPT="text/html").content.decode()
    assert "x" * 2000 in small
    large = api(olga).get(f"{path}?pageSize=100", HTTP_ACCEPT="text/html").content.decode()
    assert "x" * 2000 not in large
    [link] = re.findall(r'href="(http://testserver[^"]*format=json)"', large)
    shown = api(olga).get(html.unescape(link), HTTP_ACCEPT="text/html,*/*;q=0.8")
    assert shown["Content-Type"] == "application/json"
    assert len(shown.json()["items"]) == 100
