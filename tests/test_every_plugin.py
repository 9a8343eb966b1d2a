"""What every route in a trip keeps, of the core and of plugins: it walks the URL map.

A plugin that is installed beside the checkout is tested, too; see docs/plugins.md.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.urls import get_resolver

from tests.cast import Api
from tests.scoped import ALL, script_of
from tests.users.logins import bearer
from tripcompanion.api.serializers import camel_case
from tripcompanion.api.url_map import routes_of
from tripcompanion.plugin import plugins
from trips.models import Trip
from trips.roles import TABLE, Access, TripRole
from trips.viewsets import InTripViewSet
from users.models import User
from users.permissions import scopes_for

MISSING = 10**9


class Action(NamedTuple):
    """An action of a viewset in a trip, with its route."""

    method: str
    route: str
    view: Any
    name: str

    def __str__(self) -> str:
        return f"{self.method} /{self.route}"

    def path(self, trip: Trip) -> str:
        """The path in `trip`; other ids are of nothing."""
        named = {"trip_id": trip.pk}
        return "/" + re.sub(r"<\w+:(\w+)>", lambda m: str(named.get(m[1], MISSING)), self.route)


def actions() -> Iterator[Action]:
    """The actions of the routes below a trip."""
    get_resolver()
    for route, callback in routes_of(None):
        view = getattr(callback, "cls", None)
        if view and issubclass(view, InTripViewSet) and "<id:trip_id>" in route:
            for method, name in callback.actions.items():
                yield Action(method.upper(), route, view, name)


ACTIONS = list(actions())
each_action = pytest.mark.parametrize("action", ACTIONS, ids=str)


@each_action
def test_nobody_gets_in_without_a_token(action: Action, api: Api, trip: Trip) -> None:
    assert api(None).generic(action.method, action.path(trip)).status_code == 401


@each_action
def test_a_stranger_finds_nothing(action: Action, api: Api, trip: Trip, sam: User) -> None:
    # A body may be refused before anything is looked up.
    status = api(sam).generic(action.method, action.path(trip)).status_code
    assert status in ({404} if action.method in {"GET", "DELETE"} else {400, 404, 415, 428})


@each_action
def test_a_scoped_token_needs_the_scope(action: Action, trip: Trip, olga: User) -> None:
    needed = scopes_for(action.view, action.method)
    others = [name for name in ALL if name not in needed]
    token = script_of(olga, *others).token
    answer = bearer(token).generic(action.method, action.path(trip))
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")


@each_action
def test_a_role_may_do_what_the_table_says(
    action: Action, api: Api, trip: Trip, vera: User
) -> None:
    can = action.view.needs[action.name]
    if can is None:
        return
    assert can in TABLE, f"{can} has no row in the table of roles"
    has_only_the_trip = action.route.count("<") == 1
    if has_only_the_trip and TABLE[can][TripRole.VIEWER] is Access.NONE:
        answer = api(vera).generic(action.method, action.path(trip))
        assert answer.status_code in {400, 403, 415, 428}


def test_what_a_plugin_adds_has_words() -> None:
    for app in plugins():
        for event, sentence in app.events().items():
            assert "." in event
            assert str(sentence).endswith(".")
        for name, mail in app.mails().items():
            assert re.fullmatch("[A-Z_]{1,16}", name)
            assert all(map(str, mail))


def test_the_export_has_what_every_app_keeps(api: Api, olga: User) -> None:
    lists = {camel_case(rows.name) for app in plugins() for rows in app.personal_data()}
    assert lists <= api(olga).get("/api/users/me/export").json().keys()
