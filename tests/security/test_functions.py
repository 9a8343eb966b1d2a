"""Rows T65-T76: a role may do what the table gives it, by any method, name or detour."""

from itertools import product
from typing import Any

import pytest
from django.test import Client

from tests.cast import WITH_ROLE, Api
from tests.factories import PASSWORD, UserFactory, join
from tests.security.environment import Environment
from tests.stored import everything_stored
from tests.test_permissions import PROMISED
from tests.trips.access import TRIP, Row, Scene, call
from tests.trips.rows import ROWS
from trips.models import Trip
from trips.roles import Can, Capability, TripRole
from users.models import User

pytestmark = pytest.mark.once

#: One route for each capability, which shows what the role may do.
SHOWN_BY = {can: next(row for row in ROWS if row.can is can) for can in Can}
#: What needs no log-in; the last ones are refused for another reason.
OPEN = {str(row) for row in ROWS if row.statuses and row.statuses.get("anonymous") != 401}
OPEN |= {str(row) for row in ROWS if row.statuses and set(row.statuses.values()) == {401}}
OTHER_METHODS = ("TRACE", "CONNECT", "PROPFIND", "FOO", "OPTIONS")


def play(api: Api, trip: Trip, row: Row, user: User, own: bool) -> int:
    scene = Scene(trip, user, own)
    url = row.route.format(**scene.ids(row.route))
    body, client = row.body(scene), api(user)
    before = everything_stored()
    status = call(client, row.method, url, body).status_code
    assert status < 300 or everything_stored() == before
    return status


@pytest.mark.parametrize("can", Can)
@pytest.mark.parametrize(
    ("at", "name"), [*enumerate(WITH_ROLE.values())], ids=[*WITH_ROLE.values()]
)
def test_t65_each_role_may_do_exactly_what_is_promised(
    request: pytest.FixtureRequest, api: Api, trip: Trip, can: Capability, name: str, at: int
) -> None:
    """T65: A deactivated account can do only what anonymous users can.

    The promise stands in the tests, so a changed table is noticed over HTTP.
    """
    row, user = SHOWN_BY[can], request.getfixturevalue(name)
    for own in (False, True):
        reached = PROMISED[can][at]
        may = reached == "any" or (reached == "own" and own)
        if not own and "own" not in PROMISED[can]:
            continue
        if can in {Can.MANAGE_TRIP, Can.LEAVE} and may:
            join(trip, UserFactory(), TripRole.OWNER)
        assert play(api, trip, row, user, own) == (row.success if may else 403)


def test_t65_a_deactivated_account_may_nothing_but_what_everybody_may(
    api: Api, trip: Trip, ed: User
) -> None:
    client = api(ed)
    ed.deactivate(by=None)
    # The trip is deleted so that it can be restored.
    for row in sorted(ROWS, key=lambda row: row.route == f"{TRIP}/restore"):
        if str(row) in OPEN:
            continue
        url = row.route.format(**Scene(trip, trip.members.first().user, own=True).ids(row.route))
        assert call(client, row.method, url, {}).status_code == 401, row


def test_t66_a_viewer_changes_nothing_but_what_is_theirs(environment: Environment) -> None:
    """T66: A VIEWER can change only what is their own."""
    given = environment.settlement()
    for method, path, body in (
        *(("PUT", "", {"title": "x"}), ("PATCH", "", {"title": "x"}), ("DELETE", "", None)),
        *(("POST", "/code", None), ("POST", "/members", {"userId": environment.sam.pk})),
        *(
            ("DELETE", f"/members/{environment.ed.pk}", None),
            ("POST", "/expenses", environment.expense_body()),
        ),
        ("PUT", f"/members/{environment.vera.pk}/role", {"role": "OWNER"}),
        ("POST", "/expenses/preview", environment.expense_body()),
        ("PUT", f"/expenses/{environment.dinner.pk}", environment.expense_body()),
        ("PATCH", f"/expenses/{environment.dinner.pk}", {"notes": "x"}),
        ("DELETE", f"/expenses/{environment.dinner.pk}", None),
        ("DELETE", f"/settlements/{given.pk}", None),
    ):
        environment.refuses(
            environment.vera, method, environment.url + path, body, status=403, code="forbidden"
        )
    for method, url in (("POST", environment.splits_url), ("DELETE", environment.eds_url)):
        environment.refuses(environment.vera, method, url, {}, status=403, code="forbidden")


def test_t67_an_editor_adds_members_and_manages_none(environment: Environment) -> None:
    """T67: An EDITOR can add members but not manage them."""
    for role in ("VIEWER", "EDITOR"):
        body = {"userId": UserFactory().pk, "role": role}
        added = environment.ask(environment.ed, "POST", f"{environment.url}/members", body)
        assert (added.status_code, added.json()["role"]) == (201, role)
    body = {"userId": environment.sam.pk, "role": "OWNER"}
    environment.refuses(
        environment.ed, "POST", f"{environment.url}/members", body, status=403, code="forbidden"
    )
    environment.refuses(
        environment.ed, "DELETE", f"{environment.url}/members/{environment.vera.pk}", status=403
    )
    environment.refuses(environment.ed, "DELETE", environment.url, status=403, code="forbidden")


def test_t68_nobody_makes_themselves_owner(environment: Environment) -> None:
    """T68: Nobody can make themselves OWNER."""
    for user, target in product(
        (environment.ed, environment.vera), (environment.ed, environment.vera, environment.olga)
    ):
        url = f"{environment.url}/members/{target.pk}/role"
        environment.refuses(user, "PUT", url, {"role": "OWNER"}, status=403, code="forbidden")


def test_t69_a_stranger_comes_in_by_the_code_and_as_the_trip_says(environment: Environment) -> None:
    """T69: A stranger can join by the code only, with the role that the trip defines."""
    body = {"userId": environment.sam.pk, "role": "OWNER"}
    environment.hides(environment.sam, "POST", f"{environment.url}/members", body)
    body = {"tripCode": environment.trip.code}
    more = {**body, "role": "OWNER", "joinRole": "OWNER"}
    environment.refuses(environment.sam, "POST", "/api/trips/join", more, status=400)
    joined = environment.ask(environment.sam, "POST", "/api/trips/join", body)
    assert (joined.status_code, joined.json()["role"]) == (201, "VIEWER")
    wrong = environment.ask(environment.olga, "PATCH", environment.url, {"joinRole": "OWNER"})
    assert "joinRole" in wrong.json()["errors"]


def test_t70_the_last_owner_stays_owner(environment: Environment) -> None:
    """T70: The last OWNER cannot leave or be demoted."""
    me = f"{environment.url}/members/{environment.olga.pk}"
    for user in (environment.olga, environment.ada):
        environment.refuses(
            user, "PUT", f"{me}/role", {"role": "EDITOR"}, status=409, code="last_owner"
        )
        environment.refuses(user, "DELETE", me, status=409, code="last_owner")
    leave = f"{environment.url}/members/leave"
    environment.refuses(environment.olga, "POST", leave, status=409, code="last_owner")
    account = f"/api/users/{environment.olga.pk}"
    environment.refuses(environment.ada, "DELETE", account, status=409, code="last_owner")


def test_t71_a_method_is_the_one_of_the_request_line(environment: Environment) -> None:
    """T71: The method is that of the request line; overrides are ignored."""
    before = everything_stored()
    for header in ("HTTP_X_HTTP_METHOD_OVERRIDE", "HTTP_X_HTTP_METHOD", "HTTP_X_METHOD_OVERRIDE"):
        assert (
            environment.ask(
                environment.olga, "GET", environment.dinner_url, **{header: "DELETE"}
            ).status_code
            == 200
        )
        refused = environment.ask(
            environment.olga, "POST", environment.dinner_url, {}, **{header: "DELETE"}
        )
        assert refused.status_code == 405
    assert (
        environment.ask(
            environment.olga, "GET", f"{environment.dinner_url}?_method=DELETE"
        ).status_code
        == 200
    )
    refused = environment.ask(
        environment.olga, "POST", environment.dinner_url, {"_method": "DELETE"}
    )
    assert refused.status_code == 405
    assert everything_stored() == before


def test_t72_other_methods_are_refused_with_those_there_are(environment: Environment) -> None:
    """T72: Lower-case methods are rejected."""
    client = environment.client(environment.olga)
    for method in OTHER_METHODS:
        answer = client.generic(method, environment.dinner_url)
        assert answer.status_code == 405, method
        allowed = set(answer["Allow"].split(", "))
        assert allowed == {"GET", "PUT", "PATCH", "DELETE", "HEAD"}


def test_t73_a_split_is_paid_by_either_side_or_an_owner(environment: Environment) -> None:
    """T73: A split can be paid by its debtor, its creditors or an OWNER."""
    second = UserFactory()
    join(environment.trip, second, TripRole.OWNER)
    bystander = UserFactory()
    join(environment.trip, bystander, TripRole.EDITOR)
    environment.invite(second, bystander)
    for action in ("pay", "unpay"):
        for user in (environment.ed, environment.olga, second, environment.ada):
            assert (
                environment.ask(user, "PUT", f"{environment.eds_url}/{action}").status_code == 200
            )
        for user in (bystander, environment.vera):
            environment.refuses(
                user, "PUT", f"{environment.eds_url}/{action}", status=403, code="forbidden"
            )


def test_t74_an_administrator_may_in_any_trip_what_an_owner_may(environment: Environment) -> None:
    """T74: An ADMIN has the rights of an OWNER in every trip."""
    for url in environment.reads():
        assert environment.ask(environment.ada, "GET", url).status_code == 200
    assert (
        environment.ask(environment.ada, "GET", environment.url).json()["currentUserRole"]
        == "OWNER"
    )
    assert (
        environment.ask(environment.ada, "PATCH", environment.url, {"title": "Renamed"}).status_code
        == 200
    )
    paid = environment.ask(environment.ada, "PUT", f"{environment.eds_url}/pay")
    assert paid.status_code == 200
    assert environment.eds.settlements.get().created_by_id == environment.ada.pk
    assert not environment.trip.members.filter(user=environment.ada).exists()


def test_t75_the_admin_site_lets_administrators_in_and_counts_guesses(
    environment: Environment, limits: Any
) -> None:
    """T75: The admin site accepts only ADMINs and throttles logins."""
    for user in (None, environment.ed, environment.olga, environment.ada):
        browser = Client()
        if user is not None:
            browser.force_login(user)
        inside = browser.get("/admin/").status_code == 200
        assert inside == (user == environment.ada)
    limits(login="10/hour")
    browser = Client()
    for _turn in range(60):
        form = {"username": environment.ada.email, "password": "wrong-one"}
        browser.post("/admin/login/", form)
    right = browser.post("/admin/login/", {"username": environment.ada.email, "password": PASSWORD})
    assert "_auth_user_id" not in browser.session
    assert right.status_code in {200, 429}
    body = {"email": environment.ada.email, "password": PASSWORD}
    assert environment.ask(None, "POST", "/api/users/login", body).status_code == 429


def test_t76_a_role_is_one_of_three_words(environment: Environment) -> None:
    """T76: A role is one of three values."""
    for role in ("owner", "OWNER ", "0", 0, None, "ADMIN", ["OWNER"], {"role": "OWNER"}, True, ""):
        for method, path, body in (
            ("POST", "/members", {"userId": environment.sam.pk, "role": role}),
            ("PUT", f"/members/{environment.ed.pk}/role", {"role": role}),
        ):
            if role is None and method == "POST":
                continue  # What is optional there is left out by null.
            before = everything_stored()
            answer = environment.ask(environment.olga, method, environment.url + path, body)
            assert answer.status_code == 400, role
            assert list(answer.json()["errors"]) == ["role"]
            assert everything_stored() == before
