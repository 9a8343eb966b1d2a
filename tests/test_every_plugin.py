"""What every route in a trip keeps, of the core and of plugins: it walks the URL map.

A plugin that is installed beside the checkout is tested, too; see docs/plugins.md.
"""

import re
from functools import cache
from typing import Any, NamedTuple

import pytest
from django.urls import get_resolver

from tests.factories import purge
from tests.scoped import ALL, script_of
from tests.users.logins import bearer
from tripcompanion.api.url_map import routes_of
from tripcompanion.plugin import plugins
from trips.roles import TABLE, Access, TripRole
from trips.viewsets import InTripViewSet
from users.permissions import scopes_for

pytestmark = pytest.mark.either

MISSING = 10**9


class Action(NamedTuple):
    """An action of a viewset in a trip, with its route."""

    method: str
    route: str
    view: Any
    name: str

    def __str__(self):
        return f"{self.method} /{self.route}"

    def answer(self, client, trip):
        """What it answers in `trip`; other ids are of nothing."""
        named = {"trip_id": trip.pk}
        path = re.sub(r"<\w+:(\w+)>", lambda m: str(named.get(m[1], MISSING)), self.route)
        return client.generic(self.method, f"/{path}")


def actions():
    """The actions of the routes below a trip."""
    get_resolver()
    for route, callback in routes_of(None):
        view = getattr(callback, "cls", None)
        if view and issubclass(view, InTripViewSet) and "<id:trip_id>" in route:
            for method, name in callback.actions.items():
                yield Action(method.upper(), route, view, name)


ACTIONS = list(actions())


def test_nobody_gets_in_without_a_token(api, trip):
    for action in ACTIONS:
        assert action.answer(api(None), trip).status_code == 401, action


def test_a_stranger_finds_nothing(api, trip, sam):
    client = api(sam)
    for action in ACTIONS:
        # A body may be refused before anything is looked up.
        allowed = {404} if action.method in {"GET", "DELETE"} else {400, 404, 415, 428}
        assert action.answer(client, trip).status_code in allowed, action


def test_a_scoped_token_needs_the_scope(trip, olga):
    @cache
    def client_without(scopes):
        return bearer(script_of(olga, *(name for name in ALL if name not in scopes)).token)

    for action in ACTIONS:
        client = client_without(frozenset(scopes_for(action.view, action.method)))
        answer = action.answer(client, trip)
        assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope"), action


def test_a_role_may_do_what_the_table_says(api, trip, vera):
    client = api(vera)
    for action in ACTIONS:
        can = action.view.needs[action.name]
        if can is None:
            continue
        assert can in TABLE, f"{can} has no row in the table of roles"
        has_only_the_trip = action.route.count("<") == 1
        if has_only_the_trip and TABLE[can][TripRole.VIEWER] is Access.NONE:
            assert action.answer(client, trip).status_code in {400, 403, 415, 428}, action


def test_a_trip_ends_with_what_plugins_keep_of_it(api, trip, olga):
    """A reference to its rows is `CASCADE`, or `DO_NOTHING` without a constraint."""
    assert api(olga).delete(f"/api/trips/{trip.pk}").status_code == 204
    purge(trip)


def test_what_a_plugin_adds_has_words():
    for app in plugins():
        for event, sentence in app.events.items():
            assert "." in event
            assert str(sentence).endswith(".")
        for name, mail in app.mails().items():
            assert re.fullmatch("[A-Z_]{1,16}", name)
            assert all(map(str, mail))


def test_the_document_says_what_may_be_null_in_the_export(olga):
    wrong = []
    for rows in (rows for app in plugins() for rows in app.personal_data()):
        columns = {column.name: column for column in rows.of(olga).model._meta.concrete_fields}
        for name, field in rows.shape().fields.items():
            column = columns.get(field.source)
            if column is not None and column.null and not field.allow_null:
                wrong.append(f"{rows.name}.{name}")
    assert wrong == []
