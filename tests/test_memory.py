"""An answer and its rows are freed with it, and do not wait for the garbage collector.

Collections are rare in the server, and so thousands of rows would pile up between two.
"""

import gc
import tracemalloc
from collections import Counter
from collections.abc import Callable

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db.models import Model
from django.test import RequestFactory
from rest_framework.response import Response

from tests.compiled_only import compiled_only
from tests.factories import spend
from tests.walked import all_of
from users.models import Session
from users.tokens import token_pair

pytestmark = pytest.mark.either


@pytest.fixture
def get(olga):
    """The answer to a GET by Olga, as a server asks: test clients keep what they get."""
    handler = WSGIHandler()
    bearer = f"Bearer {token_pair(Session.start(olga)).token}"

    def ask(path):
        request = RequestFactory().get(path, headers={"Authorization": bearer})
        return handler.get_response(request)

    return ask


def peak_bytes(act: Callable[[], object]) -> int:
    """How much memory of Python's an act takes at most."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def held():
    """How many answers and rows of a trip there are in memory, by class."""
    kinds = (type(each) for each in gc.get_objects())
    return Counter(
        kind.__name__
        for kind in kinds
        if issubclass(kind, Response)
        or (issubclass(kind, Model) and kind._meta.app_label in {"trips", "splits", "webhooks"})
    )


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize(
    "path",
    [
        "/api/trips/my-trips",
        "/api/trips/{trip}",
        "/api/trips/{trip}/members",
        "/api/trips/{trip}/expenses",
        "/api/trips/{trip}/expenses/{expense}",
        "/api/trips/{trip}/balances",
        "/api/trips/{trip}/settle-up",
        *all_of("LASTING"),
        "/api/users/{user}/pending-debts",
    ],
)
def test_an_answer_leaves_no_row_behind(trip, olga, ed, get, path):
    expense = spend(trip, 6000, paid_by=ed, among=[olga, ed])
    path = path.format(trip=trip.pk, expense=expense.pk, user=olga.pk)
    assert get(path).status_code == 200  # what is compiled once, is now
    gc.collect()
    before = held()
    gc.disable()
    try:
        assert get(path).status_code == 200
        assert held() == before
    finally:
        gc.enable()


def test_a_tracer_that_looks_after_the_answer_finds_everything(trip, olga, get):
    response = get(f"/api/trips/{trip.pk}")
    view, request = (response.renderer_context[name] for name in ("view", "request"))
    assert (view.action, view.kwargs) == ("retrieve", {"trip_id": trip.pk})
    assert view.request is request
    assert request.parser_context["view"] is view
    assert (request.user, request.method) == (olga, "GET")
    assert view.response.status_code == response.renderer_context["response"].status_code == 200
    assert view.response.data is response.data
