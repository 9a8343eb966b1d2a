"""What was made for an answer goes with it, and does not wait for the garbage collector.

Collections are rare in the server, and so thousands of rows would pile up between two.
"""

import gc
from collections.abc import Callable
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from tests.factories import spend
from trips.models import Trip
from users.models import Session, User
from users.tokens import token_pair


@pytest.fixture
def get(olga: User) -> Callable[[str], Any]:
    """The status of a GET by Olga, as a server asks: test clients keep what they get."""
    handler = WSGIHandler()
    bearer = f"Bearer {token_pair(Session.start(olga)).token}"

    def ask(path: str) -> int:
        request = RequestFactory().get(path, headers={"Authorization": bearer})
        return handler.get_response(request).status_code

    return ask


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
        "/api/users/{user}/pending-debts",
    ],
)
def test_an_answer_leaves_nothing_behind(
    trip: Trip, olga: User, ed: User, get: Callable[[str], int], path: str
) -> None:
    expense = spend(trip, 6000, paid_by=ed, among=[olga, ed])
    path = path.format(trip=trip.pk, expense=expense.pk, user=olga.pk)
    assert get(path) == 200  # what is compiled once, is now
    gc.collect()
    gc.disable()
    try:
        assert get(path) == 200
        assert gc.collect() == 0
    finally:
        gc.enable()
