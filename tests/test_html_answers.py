"""Every path answers a browser with a page, whatever the method and whoever asks."""

from functools import cache

import pytest
from django.test import Client

from tests.document import ANY_IDS, METHODS, OPERATIONS
from tests.factories import settle, spend
from tests.stored import rolled_back

pytestmark = pytest.mark.once

#: The paths by how they are addressed; exports are files.
PATHS = {operation.path: operation for operation in OPERATIONS}
FILES = dict.fromkeys(("/api/users/me/export", "/api/trips/{tripId}/export"), "application/json")
#: The bodies of forms: an empty object, and what is no JSON.
BODIES = ("{}", "{")
#: The methods of each path. All others are refused before a body is read.
METHODS_OF = {path: {o.method.lower() for o in OPERATIONS if o.path == path} for path in PATHS}


@pytest.fixture
def ids(trip, olga, ed):
    """Those of a trip with an expense and a settlement; others lead nowhere."""
    expense = spend(trip, 1000, paid_by=ed, among=[olga, ed])
    return {
        **ANY_IDS,
        "tripId": trip.pk,
        "userId": olga.pk,
        "expenseId": expense.pk,
        "splitId": expense.splits.get(participant=olga).pk,
        "settlementId": settle(trip, ed, olga, 100).pk,
    }


@cache
def csrf_token():
    """A token, which every browser may send with its cookie."""
    client = Client()
    client.get("/api/session/login")
    return client.cookies["csrftoken"].value


def browser_of(user, *, has_token):
    """The browser of `user`, which sends a CSRF token only if it has one."""
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    if user:
        client.force_login(user)
    if has_token:
        client.cookies["csrftoken"] = client.defaults["HTTP_X_CSRFTOKEN"] = csrf_token()
    client.defaults["HTTP_ACCEPT"] = "text/html"
    return client


def assert_pages(client, path, kind="text/html", methods=METHODS, reading=METHODS, **headers):
    """`reading` are the methods that may read a body."""
    for method in methods:
        for body in BODIES if method in reading else BODIES[:1]:
            response = client.generic(method.upper(), path, body, "application/json", **headers)
            where = f"{method} {path} with {body!r}: {response.status_code}"
            assert response.status_code < 500, where
            if method == "get" and path.endswith((".svg", ".ics")):
                assert response.status_code == 406, where
                continue
            kinds = {kind, "text/html"} if method == "get" else {"text/html"}
            assert response["Content-Type"].partition(";")[0] in kinds, where


@pytest.mark.parametrize(("is_known", "has_token"), [(True, True), (True, False), (False, False)])
def test_every_method_of_every_path_answers_with_a_page(olga, ids, is_known, has_token):
    """Who is refused before the body is read is refused with any, and reads as others do.

    Of the methods that a path has not, the first is sent: all are refused in one place.
    """
    is_first = is_known and has_token
    for path, served in METHODS_OF.items():
        missing = next(method for method in METHODS if method not in served)
        methods = {*served, missing} if is_first else served - {"get"} if is_known else served
        reading = served - {"get"} if is_first else ()
        kind = FILES.get(path, "text/html")
        with rolled_back():
            client = browser_of(olga if is_known else None, has_token=has_token)
            assert_pages(client, PATHS[path].url(ids), kind, methods, reading)
