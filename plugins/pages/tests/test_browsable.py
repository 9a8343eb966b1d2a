"""The browsable API for people: DRF's pages, with names, links, filters, and forms for JSON."""

import html
import json
import re

import pytest
from babel.messages import pofile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from plugins.pages.browsable import _title_of
from splits.models import Expense
from tests.compiled_only import queries_of_parts
from tests.document import largest_page
from tests.factories import UserFactory, join, owned_trip, settle, spend
from tests.pages import page_of, text_of
from tests.server import ROOT
from tripcompanion.api.url_map import routes_of
from tripcompanion.plugin import Plugin, plugins
from trips.models import Trip

pytestmark = pytest.mark.once

JSON_FORM = re.compile(r'<textarea[^>]* data-override="content"[^>]*>\n(.*?)</textarea>', re.S)


def forms_of(page):
    """The methods of the forms on the page."""
    return set(re.findall(r'title="Make an? (\w+) request', page)) - {"GET"}


def bodies_of(page):
    """What the forms on the page hold."""
    return [json.loads(html.unescape(body)) for body in JSON_FORM.findall(page)]


def links_of(page):
    return set(re.findall(r'<a [^>]*href="(/api/[^"?]+)"', page))


@pytest.fixture
def expense(trip, olga, ed):
    trip.title = "Lisbon in May"
    trip.save()
    return spend(trip, 6250, paid_by=ed, among=[olga, ed], description="Dinner in Alfama")


# -- Names and links -------------------------------------------------------------------------------


def test_titles_and_breadcrumbs_have_the_names_of_what_they_show(olga, ed, trip, expense):
    settlement = settle(trip, ed, olga, 100)
    split = expense.splits.get(participant=ed)
    in_trip = "API / Trips / Lisbon in May / "
    crumbs = {
        "/api/trips": "API / Trips",
        f"/api/trips/{trip.pk}": "API / Trips / Lisbon in May",
        f"/api/trips/{trip.pk}/expenses/{expense.pk}": in_trip + "Expenses / Dinner in Alfama",
        f"/api/expenses/{expense.pk}/splits/{split.pk}": ("API / Splits / Ed Editor"),
        f"/api/trips/{trip.pk}/members/{ed.pk}/role": (in_trip + "Members / Ed Editor / Role"),
        f"/api/trips/{trip.pk}/settlements/{settlement.pk}": (
            in_trip + "Settlements / Ed Editor → Olga Owner"
        ),
        f"/api/trips/{trip.pk}/expenses/preview": in_trip + "Expenses / Preview",
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


def test_what_has_no_name_of_its_own_is_named_after_what_it_is_about(api, olga, ed, trip):
    names = {
        f"/api/trips/{trip.pk}/balances/{ed.pk}": "Ed Editor",
        f"/api/trips/{trip.pk}/guests/{ed.pk}": "Ed Editor",
    }
    for path, name in names.items():
        assert text_of(re.search(r"<h1>(.*?)</h1>", page_of(olga, path))[1]) == name


def test_the_items_of_an_expense_are_no_list_of_rows(api, olga, trip):
    path = f"/api/trips/{trip.pk}/expenses"
    body = {"description": "Fish", "amount": 18, "expenseDate": "2026-05-14"}
    items = [{"name": "Sardines", "amount": 18, "shares": {str(olga.pk): 1}}]
    fish = api(olga).post(path, {**body, "splitType": "ITEMIZED", "items": items})
    page = page_of(olga, f"{path}/{fish.json()['id']}")
    assert "<details>" not in page
    assert 'name="dateFrom"' not in page
    assert re.findall(r'<a class="list-group-item"[^>]*>([^<]*)', page) == ["Olga Owner"]


def test_each_resource_links_to_its_neighbours_and_its_rows(olga, ed, trip, expense):
    split = expense.splits.get(participant=olga)
    in_trip = f"/api/trips/{trip.pk}"
    split_path = f"/api/expenses/{expense.pk}/splits/{split.pk}"
    expected = {
        "/api/trips": {in_trip, "/api/trips/join"},
        in_trip: {
            "/api/trips",
            *(f"{in_trip}/{name}" for name in ("members", "expenses", "settlements", "balances")),
            *(f"{in_trip}/settle-up", f"{in_trip}/code"),
        },
        f"{in_trip}/expenses": {f"{in_trip}/expenses/{expense.pk}", f"{in_trip}/expenses/preview"},
        f"{in_trip}/expenses/{expense.pk}": {
            *(in_trip, f"/api/expenses/{expense.pk}/splits", split_path)
        },
        f"{in_trip}/history": {f"{in_trip}/expenses/{expense.pk}"},
        f"{in_trip}/members": {f"{in_trip}/members/{ed.pk}"},
        f"{in_trip}/balances": {f"{in_trip}/balances/{ed.pk}"},
        f"{in_trip}/balances/{ed.pk}": {f"{in_trip}/expenses/{expense.pk}"},
        f"/api/expenses/{expense.pk}/splits": {split_path},
        split_path: {f"{split_path}/pay"},
        f"/api/users/{olga.pk}/pending-debts": {split_path},
        "/api/users/me": {"/api/users/me/tokens"},
    }
    for path, links in expected.items():
        assert links <= links_of(page_of(olga, path)), path


def test_the_pages_of_a_list_link_to_each_other(olga, trip, expense):
    spend(trip, 100, paid_by=olga, among=[olga])
    path = f"/api/trips/{trip.pk}/expenses"
    first = page_of(olga, path, pageSize="1", paidBy="")
    second = page_of(olga, path, pageSize="1", page="2")
    assert f'href="{path}?page=2&amp;pageSize=1&amp;paidBy="' in first
    assert f'href="{path}?page=1&amp;pageSize=1"' in second
    assert 'rel="next"' not in second
    assert 'class="pager"' not in page_of(olga, f"/api/trips/{trip.pk}")


def test_the_json_has_no_links(api, olga, trip, expense):
    assert b"/api/" not in api(olga).get(f"/api/trips/{trip.pk}/expenses/{expense.pk}").content


def test_pages_are_in_spanish_and_fit_a_phone(olga, trip, expense):
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


def test_the_title_of_every_page_has_a_spanish_translation():
    pages = ((route, view) for route, view in routes_of(None) if hasattr(view, "actions"))
    words = {route.rpartition("/")[2] for route, view in pages if not view.initkwargs.get("name")}
    with override("en"):
        titles = {_title_of(word) for word in words if re.fullmatch("[a-z-]+", word)}
    assert {"Settle up", "Pending debts"} <= titles
    with (ROOT / "locale/es/LC_MESSAGES/django.po").open("rb") as file:
        catalog = pofile.read_po(file, locale="es")
    assert titles - {message.id for message in catalog if message.string} == set()


# -- Forms -----------------------------------------------------------------------------------------


def test_a_form_is_shown_for_what_the_path_supports(olga, trip, expense):
    in_trip = f"/api/trips/{trip.pk}"
    paths = {
        in_trip: {"PUT", "PATCH", "DELETE"},
        f"{in_trip}/expenses": {"POST"},
        f"{in_trip}/expenses/{expense.pk}": {"PUT", "PATCH", "DELETE"},
        f"{in_trip}/balances": set(),
        f"{in_trip}/code": {"POST"},
        f"{in_trip}/members/{olga.pk}/role": {"PUT"},
    }
    assert {path: forms_of(page_of(olga, path)) for path in paths} == paths
    assert forms_of(page_of(None, in_trip)) == set()
    assert forms_of(page_of(None, "/api/users/register")) == {"POST"}


def test_a_scoped_token_learns_no_names(olga, trip, expense):
    token = olga.scoped_tokens.model.issue(olga, name="Import", scopes=["expenses:read"])
    client = Client(headers={"Accept": "text/html", "Authorization": f"Bearer {token.token}"})
    for path in ("expenses", "expenses/preview", "settlements"):
        page = client.get(f"/api/trips/{trip.pk}/{path}").content.decode()
        assert "Lisbon in May" not in page
        assert forms_of(page) == set()


def test_a_form_is_empty(olga, trip, expense):
    """It has the names of all fields; sent as it is, it changes nothing."""
    client = Client(headers={"Accept": "text/html"})
    client.force_login(olga)
    for path in ("/api/trips", f"/api/trips/{trip.pk}", f"/api/trips/{trip.pk}/expenses"):
        [body] = bodies_of(page_of(olga, path))
        assert {"description"} < body.keys()
        assert not any(body.values())
        method = client.put if path.endswith(f"/{trip.pk}") else client.post
        assert method(path, body, "application/json").status_code == 400


def test_a_form_needs_only_what_is_required(olga, trip):
    client = Client(headers={"Accept": "text/html"})
    client.force_login(olga)
    [body] = bodies_of(page_of(olga, "/api/trips"))
    body |= {"title": "Porto", "destination": "Porto"}
    body |= {"startDate": "2026-05-14", "endDate": "2026-05-18"}
    made = client.post("/api/trips", body, "application/json")
    assert made.status_code == 201
    assert f'href="{made["Location"]}">Porto</a>' in made.content.decode()


def test_a_refused_form_keeps_what_was_sent(olga, trip, expense):
    client = Client(headers={"Accept": "text/html"})
    client.force_login(olga)
    path = f"/api/trips/{trip.pk}/expenses"
    sent = {"description": "Boat <b>", "amount": "-1", "splitType": "HALF"}
    response = client.post(path, sent, "application/json")
    page = response.content.decode()
    assert response.status_code == 400
    assert bodies_of(page) == [sent]
    assert '<b>"' not in page
    assert "is not a valid choice. Choose one of: EQUAL" in text_of(page)
    for method in (client.put, client.patch):
        refused = method(f"{path}/{expense.pk}", sent, "application/json")
        assert (refused.status_code, bodies_of(refused.content.decode())) == (400, [sent])
    lost = client.post("/api/trips/join", {"tripCode": "AAAAAAAA"}, "application/json")
    assert bodies_of(lost.content.decode()) == [{"tripCode": "AAAAAAAA"}]


def test_the_filters_are_a_form_and_filter(olga, trip, expense):
    spend(trip, 100, paid_by=olga, among=[olga], description="Tram")
    path = f"/api/trips/{trip.pk}/expenses"
    page = page_of(olga, path)
    for control in ('name="dateFrom"', '<select name="category"', 'name="search"'):
        assert control in page
    empty = {"dateFrom": "", "dateTo": "", "category": "", "participant": "", "ordering": ""}
    found = page_of(olga, path, **empty, search="dinner", paidBy="")
    assert "Dinner in Alfama" in found
    assert "Tram" not in found


# -- Query counts ----------------------------------------------------------------------------------

#: Those of the JSON, of the browser session, and of the rows above, whose names are shown.
QUERIES = {
    "/api/trips": 3,
    "/api/trips/{trip}": 3 + queries_of_parts(1),
    "/api/trips/{trip}/members": 5 + queries_of_parts(1),
    "/api/trips/{trip}/expenses": 4 + queries_of_parts(3),
    "/api/trips/{trip}/expenses/{expense}": 4 + queries_of_parts(3),
    "/api/trips/{trip}/settlements": 5 + queries_of_parts(1),
    "/api/trips/{trip}/balances": 4 + queries_of_parts(1),
    "/api/trips/{trip}/balances/{user}": 8 + queries_of_parts(1),
    "/api/trips/{trip}/settle-up": 5 + queries_of_parts(1),
    "/api/expenses/{expense}/splits": 4,
    "/api/expenses/{expense}/splits/{split}": 3,
    "/api/users/me": 2,
    "/api/users/{user}": 3,
    "/api/users/{user}/pending-debts": 4,
}


def test_a_page_costs_the_same_queries_with_3_and_with_15_rows(olga, ed, trip):
    client = Client(headers={"Accept": "text/html"})
    client.force_login(olga)
    rounds = []
    for rows in (3, 12):
        people = UserFactory.create_batch(rows)
        for user in people:
            join(trip, user)
            owned_trip(olga)
        trip = Trip.objects.get(pk=trip.pk)
        for user in people:
            expense = spend(trip, 3000, paid_by=ed, among=[olga, *people[:3]])
            settle(trip, user, olga, 5, by=olga)
        ids = {"trip": trip.pk, "expense": expense.pk, "user": olga.pk}
        ids["split"] = expense.splits.get(participant=olga).pk
        counted = {}
        for route in QUERIES:
            with CaptureQueriesContext(connection) as captured:
                response = client.get(route.format(**ids) + largest_page(route))
            assert response.status_code == 200
            counted[route] = len(captured)
        rounds.append(counted)
    # Of a browser session, plugins may ask for another step of the log-in.
    steps = sum(type(app).log_in_step is not Plugin.log_in_step for app in plugins())
    assert rounds[0] == rounds[1] == {route: count + steps for route, count in QUERIES.items()}


# -- Large responses -------------------------------------------------------------------------------


def test_a_page_links_to_a_large_response(api, trip, olga):
    """T192: A browsable page links to a large response in place of showing it."""
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
