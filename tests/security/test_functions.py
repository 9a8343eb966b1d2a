"""Rows T65, T71 and T75: who may do what, by any method, name or detour."""

from functools import partial

import pytest
from django.test import Client

from tests.factories import PASSWORD
from tests.stored import everything_stored
from tests.trips.access import TRIP, Scene, call
from tests.trips.rows import ROWS

pytestmark = pytest.mark.once

#: What needs no log-in; the last ones are refused for another reason.
OPEN = {str(row) for row in ROWS if row.statuses and row.statuses.get("anonymous") != 401}
OPEN |= {str(row) for row in ROWS if row.statuses and set(row.statuses.values()) == {401}}


def test_t65_a_deactivated_account_may_nothing_but_what_everybody_may(api, trip, ed):
    """T65: A deactivated account can do only what anonymous users can."""
    client = api(ed)
    ed.deactivate(by=None)
    # The trip is deleted so that it can be restored.
    for row in sorted(ROWS, key=lambda row: row.route == f"{TRIP}/restore"):
        if str(row) in OPEN:
            continue
        url = row.route.format(**Scene(trip, trip.members.first().user, own=True).ids(row.route))
        assert call(client, row.method, url, {}).status_code == 401, row


def test_t71_a_method_is_the_one_of_the_request_line(environment):
    """T71: The method is that of the request line; overrides are ignored."""
    before, url = everything_stored(), environment.dinner_url
    ask = partial(environment.ask, environment.olga)
    for header in ("HTTP_X_HTTP_METHOD_OVERRIDE", "HTTP_X_HTTP_METHOD", "HTTP_X_METHOD_OVERRIDE"):
        assert ask("GET", url, **{header: "DELETE"}).status_code == 200
        assert ask("POST", url, {}, **{header: "DELETE"}).status_code == 405
    assert ask("GET", f"{url}?_method=DELETE").status_code == 200
    assert ask("POST", url, {"_method": "DELETE"}).status_code == 405
    assert everything_stored() == before


def test_t75_the_admin_site_lets_administrators_in_and_counts_guesses(environment, limits):
    """T75: The admin site accepts only ADMINs and throttles logins."""
    for user in (None, environment.ed, environment.olga, environment.ada):
        browser = Client()
        if user is not None:
            browser.force_login(user)
        inside = browser.get("/admin/").status_code == 200
        assert inside == (user == environment.ada)
    limits(login="10/hour")
    browser = Client()
    for _turn in range(12):
        browser.post("/admin/login/", {"username": environment.ada.email, "password": "wrong-one"})
    right = browser.post("/admin/login/", {"username": environment.ada.email, "password": PASSWORD})
    assert "_auth_user_id" not in browser.session
    assert right.status_code in {200, 429}
    body = {"email": environment.ada.email, "password": PASSWORD}
    assert environment.ask(None, "POST", "/api/users/login", body).status_code == 429
