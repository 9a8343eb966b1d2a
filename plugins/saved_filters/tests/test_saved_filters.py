"""Filters of the list of expenses that an account has saved."""

from types import SimpleNamespace
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings, strategies

from plugins.saved_filters import models
from plugins.saved_filters.models import (
    MAX_FILTERS,
    MAX_QUERY_CHARS,
    PERSON_PARAMETERS,
    SavedFilter,
)
from splits.filters import ExpenseFilter, IdFilter
from tests.document import problem_of
from tests.factories import PASSWORD, add_guest
from tests.own_data import own_data
from tests.scoped import script_of
from tests.users.logins import bearer
from users.scopes import Scope

pytestmark = pytest.mark.either

FILTERS = "/api/users/me/filters"


def save(ledger, user, query, name="Open food"):
    return ledger.answer(user, "post", FILTERS, {"name": name, "query": query})


@pytest.fixture
def names(ledger, olga, ed):
    """The descriptions that a query finds among these expenses."""
    ledger.spend(olga, 9, olga, description="Tram", category="TRANSPORT", tags=["sea"])
    ledger.spend(olga, 30, olga, ed, description="Soup", category="FOOD", tags=["sea", "fish"])
    ledger.spend(ed, 45, ed, description="Tarts", category="FOOD", expenseDate="2026-05-13")

    def find(query, user=olga):
        response = ledger.answer(user, "get", f"expenses?{query}")
        assert response.status_code == 200, response.content
        return [expense["description"] for expense in response.json()["items"]]

    return find


def test_a_filter_is_saved_replaced_and_deleted(ledger, olga):
    response = save(ledger, olga, "paid=false&category=FOOD&search=&tag=b&tag=a%20%C3%A4&tag=")
    saved = response.json()
    assert (response.status_code, response["Location"]) == (201, f"{FILTERS}/{saved['id']}")
    query = "category=FOOD&paid=false&tag=b&tag=a+%C3%A4"
    assert saved == {"id": saved["id"], "name": "Open food", "query": query}
    url = f"{FILTERS}/{saved['id']}"
    assert ledger.answer(olga, "get", url).json() == saved
    assert save(ledger, olga, saved["query"], "Again").json()["query"] == query
    changed = {"name": "Meals", "query": "ordering=-amount"}
    assert ledger.answer(olga, "put", url, changed).json() == {"id": saved["id"]} | changed
    page = ledger.answer(olga, "get", FILTERS).json()
    assert [row["name"] for row in page["items"]] == ["Meals", "Again"]
    assert ledger.answer(olga, "delete", url).status_code == 204
    assert ledger.answer(olga, "put", url, changed).status_code == 404
    assert all(ledger.answer(olga, name, url).status_code == 404 for name in ("get", "delete"))


def test_a_saved_filter_narrows_the_list_by_name_and_by_id(ledger, olga, names):
    saved = save(ledger, olga, "category=FOOD", "Olga's food").json()
    for called in (saved["id"], quote("Olga's food")):
        assert names(f"filter={called}") == ["Soup", "Tarts"]
    assert names("filter=") == ["Soup", "Tram", "Tarts"]
    save(ledger, olga, "category=TRANSPORT", str(saved["id"]))
    assert names(f"filter={saved['id']}") == ["Tram"]


@pytest.mark.parametrize(
    ("saved", "sent", "found"),
    [
        ("category=FOOD", "category=TRANSPORT", ["Tram"]),
        ("category=FOOD", "category=", ["Soup", "Tram", "Tarts"]),
        ("category=FOOD", "paid=false", ["Soup"]),
        ("tag=fish&tag=sea", "tag=sea", ["Soup", "Tram"]),
        ("tag=sea", "tag=fish", ["Soup"]),
        ("ordering=amount", "category=FOOD", ["Soup", "Tarts"]),
        ("ordering=-amount", "pageSize=1", ["Tarts"]),
        ("dateTo=2026-05-13", "to=2026-05-14", ["Soup", "Tram", "Tarts"]),
        ("from=2026-05-14", "dateFrom=2026-05-13", ["Soup", "Tram", "Tarts"]),
        ("from=2026-05-14", "to=2026-05-14", ["Soup", "Tram"]),
        ("payer={ed}", "paidBy={olga}", ["Soup", "Tram"]),
    ],
)
def test_parameters_of_the_request_replace_saved_ones(ledger, olga, ed, names, saved, sent, found):
    ids = {"olga": olga.pk, "ed": ed.pk}
    assert save(ledger, olga, saved.format(**ids), "x").status_code == 201
    assert names(f"filter=x&{sent.format(**ids)}") == found


def test_a_name_is_used_once_by_an_account(ledger, olga, ed):
    saved = save(ledger, olga, "paid=true").json()
    other = save(ledger, olga, "paid=true", "other").json()
    assert save(ledger, ed, "paid=true").status_code == 201
    body = {"name": "Open food", "query": "paid=false"}
    for method, url in (("post", FILTERS), ("put", f"{FILTERS}/{other['id']}")):
        document = problem_of(ledger.answer(olga, method, url, body), 409, "name_taken")
        assert document["errors"] == {"name": ["You already have a saved filter with this name."]}
    assert ledger.answer(olga, "put", f"{FILTERS}/{saved['id']}", body).status_code == 200


def test_filters_of_others_are_as_if_there_were_none(ledger, olga, ed, names):
    saved = save(ledger, olga, "category=FOOD").json()
    url = f"{FILTERS}/{saved['id']}"
    assert ledger.answer(ed, "put", url, {"name": "a", "query": "paid=true"}).status_code == 404
    assert all(ledger.answer(ed, name, url).status_code == 404 for name in ("get", "delete"))
    for called in (saved["id"], quote(saved["name"]), "0", "x", "%C3%A4"):
        refused = ledger.answer(ed, "get", f"expenses?filter={called}")
        assert (refused.status_code, [*refused.json()["errors"]]) == (400, ["filter"])
    assert ledger.answer(olga, "get", url).json() == saved
    assert ledger.answer(ed, "get", FILTERS).json()["total"] == 0


@pytest.mark.parametrize(
    "query",
    [
        *("", " ", "&", "category=", "category", "?", None, 1, [], {"category": "FOOD"}),
        *("category=PARROTS", "paid=1", "tag=a%00b", "paidBy=x", "dateFrom=soon", "minAmount=NaN"),
        *("page=2", "pageSize=5", "deleted=true", "filter=1", "unknown=1", "categry=FOOD"),
        *("?category=FOOD", "ordering=description", "category=FOOD&b=1", "&" * 1200),
        *("search=" + "a" * 256, "search=" + "%C3%A4" * 2000, "&".join(["tag=a"] * 11)),
        *("search=" + "\U0001f9f3" * 200, "paid=true&" * 250, "to=2026-05-14&to=2026-05-15"),
    ],
)
def test_what_the_list_would_refuse_or_ignore_is_not_saved(ledger, olga, query):
    refused = save(ledger, olga, query)
    assert (refused.status_code, [*refused.json()["errors"]]) == (400, ["query"])
    assert not SavedFilter.objects.exists()


@given(
    pairs=strategies.lists(
        strategies.tuples(
            strategies.sampled_from(["search", "tag", "category", "paid", "from", "x"]),
            strategies.one_of(
                strategies.text(max_size=20), strategies.sampled_from(["FOOD", "true"])
            ),
        ),
        max_size=5,
    )
)
@settings(max_examples=40)
def test_what_is_saved_can_be_used_and_saved_again(ledger, olga, pairs):
    SavedFilter.objects.all().delete()
    response = save(ledger, olga, "&".join(f"{name}={value}" for name, value in pairs), "x")
    assert response.status_code in {201, 400}, response.content
    if response.status_code == 201:
        stored = response.json()["query"]
        assert len(stored) <= MAX_QUERY_CHARS
        assert ledger.answer(olga, "get", "expenses?filter=x").status_code == 200
        assert save(ledger, olga, stored, "y").json()["query"] == stored


def test_an_account_has_at_most_so_many(ledger, olga):
    SavedFilter.objects.bulk_create(
        SavedFilter(user=olga, name=f"{at}", query="paid=true") for at in range(MAX_FILTERS)
    )
    problem_of(save(ledger, olga, "paid=true"), 409, "limit_reached")
    last = SavedFilter.objects.latest("pk")
    body = {"name": "new", "query": "paid=false"}
    assert ledger.answer(olga, "put", f"{FILTERS}/{last.pk}", body).status_code == 200
    assert ledger.answer(olga, "delete", f"{FILTERS}/{last.pk}").status_code == 204
    assert save(ledger, olga, "paid=true").status_code == 201


def test_a_script_uses_saved_filters_but_does_not_manage_them(ledger, olga, names):
    save(ledger, olga, "category=FOOD", "food")
    scopes = (Scope.EXPENSES_READ, Scope.EXPENSES_WRITE, Scope.TRIPS_READ, Scope.TRIPS_WRITE)
    script = bearer(script_of(olga, *scopes).token)
    assert script.get(FILTERS).status_code == 403
    page = script.get(f"{ledger.url}/expenses?filter=food").json()
    assert [row["description"] for row in page["items"]] == ["Soup", "Tarts"]


def test_a_filter_costs_one_query_however_many_there_are(ledger, olga, names):
    counts = []
    for number in range(3):
        save(ledger, olga, "category=FOOD", f"food {number}")
        for query in ("category=FOOD", "filter=food+0"):
            names(query)
            with CaptureQueriesContext(connection) as queries:
                names(query)
            counts.append(len(queries))
    plain, *_rest = counts
    assert counts == [plain, plain + 1] * 3


def test_export_and_deletion_of_an_account_know_its_filters(ledger, olga, sam):
    save(ledger, olga, "paid=true", "mine")
    save(ledger, sam, "paid=false", "his")
    assert [row["name"] for row in own_data(sam)["filters"]] == ["his"]
    assert ledger.answer(sam, "delete", "/api/users/me", {"password": PASSWORD}).status_code == 204
    assert [row.name for row in SavedFilter.objects.all()] == ["mine"]


@pytest.mark.parametrize("way", ["merge", "claim"])
def test_a_filter_finds_who_took_the_place_of_a_guest(ledger, olga, ed, sam, way):
    guest = add_guest(ledger.trip)
    ledger.spend(olga, 9, guest, description="Tram")
    ledger.spend(olga, 30, olga, description="Soup")
    query = "paidBy={0}1&participant={0}&search=%26payer%3D{0}"
    save(ledger, olga, f"participant={guest.pk}", "hers")
    other = save(ledger, olga, query.format(guest.pk), "other").json()
    if way == "merge":
        to, body = ed, {"userId": ed.pk}
        done = ledger.answer(olga, "post", f"guests/{guest.pk}/merge", body)
        assert done.status_code == 200
    else:
        to = sam
        invited = ledger.answer(olga, "post", "invitations", {"guestUserId": guest.pk}).json()
        done = ledger.answer(sam, "post", f"/api/invitations/{invited['token']}/accept")
        assert done.status_code == 201
    rows = ledger.answer(olga, "get", "expenses?filter=hers").json()["items"]
    assert [row["description"] for row in rows] == ["Tram"]
    kept = ledger.answer(olga, "get", f"{FILTERS}/{other['id']}").json()["query"]
    assert kept == query.replace("participant={0}", f"participant={to.pk}").format(guest.pk)


def test_every_parameter_that_names_a_person_is_known():
    filters = ExpenseFilter.base_filters.items()
    assert {name for name, one in filters if isinstance(one, IdFilter)} == {*PERSON_PARAMETERS}


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_filter_that_is_changed_during_a_merge_stays_changed(
    ledger, olga, monkeypatch, is_deleted
):
    guest = add_guest(ledger.trip)
    save(ledger, olga, f"participant={guest.pk}")

    def interfering(_template, query):
        rows = SavedFilter.objects.all()
        _changed = rows.delete() if is_deleted else rows.update(query="category=FOOD")
        return query

    expression = SimpleNamespace(sub=interfering)
    monkeypatch.setattr(models, "re", SimpleNamespace(compile=lambda _text: expression))
    models.rename_in_filters(ledger.trip, guest.pk, olga.pk)
    assert [row.query for row in SavedFilter.objects.all()] == (
        [] if is_deleted else ["category=FOOD"]
    )
