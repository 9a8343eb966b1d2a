"""Who may do what through the API for Splitwise's clients, and what errors look like."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from plugins.comments.models import Comment
from plugins.invitations.models import Invitation
from plugins.splitwise.objects import PAYMENTS_FROM
from plugins.splitwise.tests.conftest import BASE, DOCUMENT, FORM, Caller, shares, urlencode
from splits.models import DeletedEntry, Expense, Settlement
from tests.factories import join, owned_trip, settle, spend
from tests.scoped import ALL
from tests.test_costs import inserted
from trips.models import Trip
from trips.roles import TripRole
from users.models import User

pytestmark = pytest.mark.either

READS = ("get_current_user", "get_groups", "get_friends", "get_expenses", "get_notifications")
JSON = "application/json"


def test_without_the_setting_there_is_no_such_path(settings, api, olga):
    settings.ROOT_URLCONF = "tripcompanion.urls"
    answer = api(olga).get(f"{BASE}/get_current_user")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("header", ["", "Bearer x", "Bearer tc_x", "Basic x", "OAuth x"])
def test_without_a_good_key_the_answer_is_401(db, header):
    client = APIClient(**({"HTTP_AUTHORIZATION": header} if header else {}))
    for path in READS:
        answer = client.get(f"{BASE}/{path}")
        assert answer.status_code == 401
        assert list(answer.json()) == ["error"]
        assert answer["Content-Type"] == JSON
    assert client.get(f"{BASE}/get_currencies").status_code == 200
    assert client.get(f"{BASE}/get_categories").status_code == 200


def test_a_session_works_as_a_key_does(api, olga):
    client = api(olga)
    user = client.get(f"{BASE}/get_current_user").json()["user"]
    assert (user["id"], user["email"]) == (olga.pk, "olga@example.com")
    body = {"first_name": "Olga", "last_name": "New Name", "default_currency": "USD"}
    changed = client.post(f"{BASE}/update_user", body).json()
    assert changed["errors"] == {}
    assert (changed["user"]["last_name"], changed["user"]["default_currency"]) == (
        "New Name",
        "USD",
    )


def test_a_key_reads_the_account_and_changes_nothing_of_it(calling, olga, ed):
    caller = calling(olga)
    own = caller.get("get_current_user")["user"]
    echo = {key: value for key, value in own.items() if isinstance(value, str | int)}
    assert caller.done("update_user", form=True, **echo)["user"] == own
    for change in (
        {"first_name": "X"},
        {"email": "x@example.com"},
        {"password": "a new secret"},
        {"locale": "de"},
    ):
        assert caller.post(f"update_user/{olga.pk}", **{**echo, **change})["errors"]
    caller.post(f"update_user/{ed.pk}", 404)
    caller.get(f"get_user/{ed.pk}", 404)


#: The scopes that reading and writing need; the methods that write are POST, PUT and DELETE.
TRIPS, GROUPS = (
    ({"trips:read"}, {"trips:write"}),
    ({"trips:read", "expenses:read"}, {"trips:write", "expenses:read"}),
)
EXPENSES = {"expenses:read"}, {"expenses:write"}
SCOPES = {
    **dict.fromkeys(("get_current_user", "get_user", "update_user", "test"), TRIPS),
    **dict.fromkeys(("get_groups", "get_group", "create_group", "delete_group"), GROUPS),
    **dict.fromkeys(("undelete_group", "add_user_to_group", "remove_user_from_group"), GROUPS),
    **dict.fromkeys(("get_friends", "get_friend", "create_friend", "create_friends"), GROUPS),
    "delete_friend": GROUPS,
    **dict.fromkeys(("get_expenses", "get_expense", "create_expense", "update_expense"), EXPENSES),
    **dict.fromkeys(("delete_expense", "undelete_expense", "get_comments"), EXPENSES),
    **dict.fromkeys(("create_comment", "delete_comment"), EXPENSES),
    "get_notifications": ({"expenses:read", "trips:read"}, set()),
    **dict.fromkeys(("get_currencies", "get_categories", "schema"), (set(), set())),
}


@pytest.mark.parametrize(
    ("path", "method"),
    [(path, method) for path, item in DOCUMENT["paths"].items() for method in item],
)
def test_each_endpoint_needs_its_scopes_and_no_more(calling, olga, path, method):
    needed = SCOPES[path.split("/")[1]][method != "get"]
    address = f"{BASE}{re.sub('{.*}', str(2**40), path)}"
    for missing in [None, *needed]:
        scopes = needed if missing is None else {*ALL} - {missing}
        caller = calling(olga, *(scopes or ALL))
        answer = getattr(caller.http, method)(address, {} if method != "get" else None)
        assert (answer.status_code == 403) == (missing is not None), (missing, answer.content)


def test_a_key_for_expenses_makes_no_friendship_and_invites_nobody(calling, trip, olga, ed):
    body = {"cost": "8", "description": "Taxi", **shares({olga: "8"}, {ed: "8"})}
    only_expenses = calling(olga, "expenses:read", "expenses:write")
    for named in ({"user_id": ed.pk}, {"email": "nobody@example.com"}):
        row = {"users__1__user_id": None} | {f"users__1__{name}": it for name, it in named.items()}
        only_expenses.post("create_expense", 403, **{**body, **row})
    assert Trip.objects.count() == 1
    assert not Invitation.objects.exists()
    calling(olga).done("create_expense", **body)
    only_expenses.done("create_expense", **body)


def test_a_key_for_one_trip_sees_no_other(calling, trip, olga, ed):
    full = calling(olga)
    other = full.done("create_group", name="Other")["group"]
    hidden = full.spend("5", {olga: "5"}, {olga: "5"}, group_id=other["id"])
    caller = calling(olga, trip=trip)
    assert [one["id"] for one in caller.get("get_groups")["groups"]] == [0, trip.pk]
    caller.get(f"get_group/{other['id']}", 404)
    caller.get(f"get_expense/{hidden['id']}", 404)
    assert caller.get("get_expenses")["expenses"] == []
    caller.post("create_group", 403, name="x")
    assert {one["id"] for one in caller.get("get_friends")["friends"]} == set(
        trip.members.exclude(user=olga).values_list("user", flat=True)
    )


def test_a_key_for_one_trip_knows_nobody_from_another_one(calling, trip, olga, ed, sam):
    other = owned_trip(olga)
    join(other, sam)
    assert calling(olga).get(f"get_user/{sam.pk}")["user"]["email"] == sam.email
    caller = calling(olga, trip=trip)
    assert caller.get(f"get_user/{ed.pk}")["user"]["email"] == ed.email
    assert caller.get(f"get_user/{olga.pk}")["user"]["email"] == olga.email
    caller.get(f"get_user/{sam.pk}", 404)
    answer = caller.refused("add_user_to_group", group_id=trip.pk, user_id=sam.pk)
    assert "share no group" in str(answer)


def everything(trip, olga, ed):
    """A write of each kind in a trip."""
    expense = spend(trip, 100, paid_by=olga, among=[olga, ed])
    paid = settle(trip, ed, olga, 5, by=olga)
    gone = spend(trip, 100, paid_by=olga, among=[olga])
    gone_id = gone.pk
    gone.remove(olga)
    comment = Comment.write(expense, olga, "Nice")
    new = {"cost": "5", "description": "x", "group_id": trip.pk, **shares({olga: "5"}, {olga: "5"})}
    return [
        ("create_expense", new),
        ("create_expense", {**new, **shares({olga: "5"}, {ed: "5"}), "payment": "1"}),
        (f"update_expense/{expense.pk}", {"description": "y"}),
        (f"delete_expense/{expense.pk}", {}),
        (f"delete_expense/{2**52 + paid.pk}", {}),
        (f"undelete_expense/{gone_id}", {}),
        (f"delete_comment/{comment.pk}", {}),
        (f"delete_group/{trip.pk}", {}),
        ("add_user_to_group", {"group_id": trip.pk, "first_name": "Guest"}),
        ("remove_user_from_group", {"group_id": trip.pk, "user_id": ed.pk}),
    ]


#: Of the writes in `everything`, what each role may do. Nobody removes who owes money.
ALLOWED = {"olga": {*range(9)}, "ed": {0, 1, 8}, "vera": set[int]()}


@pytest.mark.parametrize("place", range(10))
@pytest.mark.parametrize("name", ALLOWED)
def test_roles_say_who_may_change_what(calling, trip, olga, ed, request, name, place):
    caller = calling(request.getfixturevalue(name))
    path, body = everything(trip, olga, ed)[place]
    rows = trip.journal.count()
    if place in ALLOWED[name]:
        caller.done(path, **body)
    else:
        caller.refused(path, **body)
        assert trip.journal.count() == rows


def test_a_stranger_learns_nothing(calling, trip, olga, ed, sam):
    writes = everything(trip, olga, ed)
    rows, caller = trip.journal.count(), calling(sam)
    for path, body in writes:
        answer = caller.http.post(f"{BASE}/{path}", body)
        missing = caller.http.post(f"{BASE}/{path.partition('/')[0]}/{10**9}", {})
        if "/" in path:
            assert (answer.status_code, answer.content) == (missing.status_code, missing.content)
        else:
            assert answer.json()["errors"] == {"base": ["Not found."]}
    expense, gone = Expense.objects.get(), DeletedEntry.objects.get()
    assert calling(olga).get(f"get_expense/{gone.object_id}")
    hidden = (f"get_expense/{expense.pk}", f"get_expense/{gone.object_id}")
    for path in (*hidden, f"get_group/{trip.pk}", f"get_user/{olga.pk}"):
        answer = caller.http.get(f"{BASE}/{path}")
        missing = caller.http.get(f"{BASE}/{path.partition('/')[0]}/{10**9}")
        assert answer.status_code == 404
        assert answer.content == missing.content
    caller.get("get_comments", 404, expense_id=expense.pk)
    caller.post("create_comment", 404, expense_id=expense.pk, content="x")
    caller.get("get_expenses", 404, group_id=trip.pk)
    assert caller.get("get_expenses", friend_id=olga.pk) == {"expenses": []}
    caller.get(f"get_friend/{olga.pk}", 404)
    assert trip.journal.count() == rows


def test_an_editor_changes_and_deletes_their_own(calling, trip, olga, ed):
    caller = calling(ed)
    own = caller.spend("5", {ed: "5"}, {olga: "5"}, group_id=trip.pk)
    caller.done(f"update_expense/{own['id']}", description="y")
    # As one client does.
    answer = caller.http.delete(f"{BASE}/delete_expense/{own['id']}")
    assert answer.json() == {"success": True, "errors": {}}


def test_keys_are_throttled(calling, limits, olga):
    limits(user="2/min", lookup="1/hour")
    caller = calling(olga)
    for status in (200, 200, 429):
        answer = caller.http.get(f"{BASE}/get_current_user")
        assert answer.status_code == status
    assert int(answer["Retry-After"]) >= 1
    assert list(answer.json()) == ["errors"]
    limits(lookup="1/hour", user=None)
    caller.post("create_friend", user_email="new@example.com")
    caller.post("create_friend", 429, user_email="olga@example.com")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("create_expense", {"users__0__email": "olga@example.com", "cost": "nine"}),
        ("create_friends", {"users__2__email": "nobody"}),
    ],
)
def test_a_refused_write_counts_the_address_that_it_named(calling, limits, olga, ed, path, body):
    limits(lookup="1/hour", user=None)
    body = {**body, "users__1__email": ed.email}
    calling(olga).refused(path, **body)
    calling(olga).post(path, 429, **body)


def test_a_repeat_with_its_key_is_the_same_answer(calling, trip, olga, ed):
    caller = calling(olga)
    body = {"cost": "5", "description": "x", "group_id": trip.pk, **shares({olga: "5"}, {ed: "5"})}
    path, key = f"{BASE}/create_expense", {"HTTP_IDEMPOTENCY_KEY": "k"}
    first = caller.http.post(path, body, **key)
    again = caller.http.post(path, body, **key)
    assert (again.json(), again["Idempotency-Replayed"]) == (first.json(), "true")
    assert Expense.objects.count() == 1
    assert caller.http.post(path, {**body, "cost": "6"}, **key).status_code == 422
    refused = {"HTTP_IDEMPOTENCY_KEY": "other"}
    assert caller.http.post(path, {**body, "cost": "6"}, **refused).json()["errors"]
    assert caller.http.post(path, body, **refused).json()["expenses"]
    trip.members.filter(user=olga).update(left_at="2026-05-05T00:00:00Z", role=TripRole.VIEWER)
    assert caller.http.post(path, body, **key).status_code == 404


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        (JSON, b"{", 400),
        (JSON, b"[]", 400),
        (JSON, b'{"cost": NaN}', 400),
        (JSON, b'{"cost": 1, "cost": 2}', 400),
        (JSON, b"{" + b",".join(b'"a%d":1' % n for n in range(10_001)) + b"}", 400),
        (JSON, b"{" + b",".join(b'"users__%d__id":1' % n for n in range(9_999)) + b"}", 200),
        (FORM, b"&".join(b"users__%d__user_id=1" % n for n in range(10_001)), 400),
        (FORM, b"&".join(b"users__%d__user_id=1" % n for n in range(9_999)), 200),
        (FORM, b"cost=1&cost=2", 400),
        (FORM, b"cost=%ff", 400),
        (FORM, b"description=%00&cost=1", 200),
        (FORM, b"users__0__user_id=%00", 200),
        (FORM, b"users__0__email=%00", 200),
        (FORM, b"category_id=%00&group_id=-1&date=%00", 200),
        (FORM, b"a" * (1024 * 1024 + 1), 413),
        ("multipart/form-data; boundary=x", b"--x\r\nnothing", 200),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="cost"\r\n\r\n\xff\r\n--x--\r\n',
            400,
        ),
        ("multipart/form-data", b"x", 400),
        ("text/plain", b"cost=1", 415),
        ("", b"", 200),
    ],
)
def test_hostile_bodies_are_refused_and_change_nothing(
    calling, trip, olga, content_type, body, status
):
    caller = calling(olga)
    for path in ("create_expense", "create_group", "create_friends"):
        answer = caller.http.generic("POST", f"{BASE}/{path}", body, content_type=content_type)
        assert answer.status_code == status, answer.content
        assert answer.status_code != 200 or answer.json()["errors"]
    assert Trip.objects.count() == 1
    assert not Expense.objects.exists()
    assert not Settlement.objects.exists()


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        (("users__0__user_id", "users__0__id"), "users__0__id"),
        (("friends__0__email", "users__0__email"), "users__0__email"),
        (("friends__0__user_email", "friends__0__email"), "friends__0__email"),
        (("users__-1__user_id",), "users__-1__user_id"),
        (("users__9999999__user_id",), "users__9999999__user_id"),
        (("users__01__user_id",), "users__01__user_id"),
        (("users__x__user_id",), "users__x__user_id"),
        (("users__0",), "users__0"),
        (("users____user_id",), "users____user_id"),
        (tuple(f"users__{n}__email" for n in range(0, 3003, 3)), "users"),
    ],
)
def test_lists_that_are_spelt_in_a_wrong_way_change_nothing(calling, trip, olga, ed, keys, field):
    caller, wrong = calling(olga), dict.fromkeys(keys, "1")
    good = {"cost": "5", "description": "x", "group_id": trip.pk, **shares({olga: "5"}, {ed: "5"})}
    sent = good if keys[0].partition("__")[2][:1] != "0" else {**good, "users__0__user_id": None}
    body = {key: value for key, value in sent.items() if value is not None} | wrong
    for form in (True, False):
        assert field in caller.refused("create_expense", form=form, **body)
        assert field in caller.refused("create_group", form=form, name="x", **wrong)
        assert field in caller.refused("create_friends", form=form, **wrong)
    assert Trip.objects.count() == 1
    assert not Expense.objects.exists()


def test_the_indexes_of_a_list_may_have_gaps(calling, trip, olga, ed):
    body = {"cost": "5", "description": "x", "group_id": trip.pk, "users__999999__user_id": ed.pk}
    body |= {"users__999999__owed_share": "5", "users__7__paid_share": "5"}
    body |= {"users__7__user_id": olga.pk}
    [made] = calling(olga).done("create_expense", form=True, **body)["expenses"]
    assert {one["user_id"]: one["net_balance"] for one in made["users"]} == {
        olga.pk: "5.0",
        ed.pk: "-5.0",
    }


def test_our_own_api_stays_as_strict_as_it_is(calling, trip, olga):
    http, path = calling(olga).http, f"/api/trips/{trip.pk}"
    for kind, body, status in (
        (FORM, "title=x", 415),
        (JSON, '{"title": "x", "title": "y"}', 400),
        (JSON, '{"title": ""}', 400),
        (JSON, '{"budget": "1", "title": null}', 400),
    ):
        assert http.generic("PATCH", path, body, content_type=kind).status_code == status
    assert http.patch(f"{path}/", {"title": "x"}).status_code == 404
    assert http.delete(f"{path}0").status_code == 404


def test_the_routes_are_no_part_of_the_openapi_document(api):
    assert reverse("schema")
    assert b"/api/v3.0" not in api(None).get("/api/schema").content


def test_what_was_sent_is_shown_whatever_its_size(calling, olga):
    number = "1" + "0" * 30
    body = f'{{"number": {number}, "nested": {{"numbers": [{number}]}}}}'
    answer = calling(olga).http.post(f"{BASE}/test", body, content_type=JSON)
    assert answer.json()["params"]["number"] == number


PATHS = ("create_expense", "create_group", "create_friend", "create_friends", "create_comment")
NAMES = st.sampled_from(
    [
        *("cost", "description", "group_id", "payment", "split_equally", "date", "currency_code"),
        *("category_id", "name", "group_type", "user_email", "user_first_name", "expense_id"),
        *("content", "details", "repeat_interval", "friends__0__email", "users__-1__user_id"),
        *(f"users__{i}__{name}" for i in (0, 1, 999_999) for name in ("user_id", "paid_share")),
        *(f"users__{i}__{name}" for i in (0, 1) for name in ("id", "owed_share", "email")),
    ]
)
VALUES = st.one_of(
    st.sampled_from(["", "0", "-1", "true", "1e9", "NaN", "0.005", "9" * 30, "2026-02-30", "EUR"]),
    st.integers(-1, 10).map(str),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


@settings(max_examples=60)
@given(path=st.sampled_from(PATHS), body=st.dictionaries(NAMES, VALUES, max_size=8))
def test_no_form_breaks_the_service(calling, trip, olga, path, body):
    caller = calling(olga)
    before = Expense.objects.count() + Settlement.objects.count()
    body = {"group_id": str(trip.pk), "cost": "5", "description": "x", **body}
    answer = caller.http.post(f"{BASE}/{path}", urlencode(body), content_type=FORM)
    assert answer.status_code < 500, answer.content
    after = Expense.objects.count() + Settlement.objects.count()
    is_done = answer.status_code == 200 and bool(answer.json().get("expenses"))
    assert after == before + is_done
    olga.scoped_tokens.all().delete()


def test_the_rows_of_a_form_count_as_those_of_json(trip, olga, limits):
    limits(user="10/min")
    friends = {f"friends__{at}__user_first_name": f"Friend {at}" for at in range(6)}
    caller = Caller(olga)
    assert len(caller.done("create_friends", form=True, **friends)["users"]) == 6
    assert "errors" in caller.post("create_friends", 429, **friends)


def test_friends_beyond_the_quota_are_refused_before_the_first_write(olga, settings):
    settings.QUOTA_TRIPS = 3
    caller = Caller(olga)
    two = {f"friends__{at}__user_email": f"{at}@example.com" for at in range(2)}
    assert len(caller.done("create_friends", **two)["users"]) == 2
    three = {f"friends__{at}__user_email": f"{at}@example.com" for at in range(4)}
    with CaptureQueriesContext(connection) as captured:
        assert "3" in str(caller.refused("create_friends", **three))
    assert inserted(captured) == []
    # Those who are known need no trip.
    known = {f"friends__{at}__user_email": f"{at}@example.com" for at in range(3)}
    assert len(caller.done("create_friends", **known)["users"]) == 3
    assert Trip.objects.count() == 3


def test_a_group_beyond_the_quota_is_refused_before_the_first_write(olga, settings):
    settings.QUOTA_MEMBERS = 3
    caller = Caller(olga)
    names = {f"users__{at}__first_name": f"Friend {at}" for at in range(3)}
    with CaptureQueriesContext(connection) as captured:
        assert caller.refused("create_group", name="Flat", **names)
    assert inserted(captured) == []
    body = {**names, "users__0__first_name": None, "users__0__user_id": olga.pk}
    assert len(caller.done("create_group", name="Flat", **body)["group"]["members"]) == 3


def test_notifications_have_the_limit_of_exports(olga, limits):
    limits(export="2/hour")
    client = Caller(olga).http
    statuses = [client.get("/api/v3.0/get_notifications").status_code for _time in range(3)]
    assert statuses == [200, 200, 429]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("create_comment", {"expense_id": "{expense}", "content": "Good"}),
        ("delete_comment/{comment}", {}),
        ("create_expense", {"cost": "5", "description": "Bus", "split_equally": True}),
        ("update_expense/{expense}", {"description": "Ferry"}),
        ("delete_expense/{expense}", {}),
        ("undelete_expense/{deleted}", {}),
        ("delete_expense/{payment}", {}),
        ("add_user_to_group", {"first_name": "Grandma"}),
    ],
)
def test_whoever_writes_in_a_trip_has_answered(calling, trip, olga, ed, path, body):
    expense, deleted = (spend(trip, 1000, paid_by=olga, among=[olga, ed]) for _time in range(2))
    deleted_id = deleted.pk
    deleted.remove(by=olga)
    ids = {
        "expense": expense.pk,
        "deleted": deleted_id,
        "comment": Comment.write(expense, olga, text="Windy").pk,
        "payment": PAYMENTS_FROM + settle(trip, ed, olga, 500).pk,
    }
    unanswered = olga.memberships.filter(trip=trip)
    unanswered.update(introduced_by=0)
    User.objects.filter(pk=olga.pk).update(is_unanswered=True)
    caller = calling(User.objects.get(pk=olga.pk))
    caller.refused("create_expense", group_id=trip.pk, cost="x", split_equally=True)
    assert unanswered.filter(introduced_by=0)
    body = {name: str(value).format(**ids) for name, value in body.items()}
    caller.done(path.format(**ids), **body, group_id=trip.pk)
    assert not unanswered.filter(introduced_by=0)


def test_naming_a_friend_or_restoring_a_group_is_an_answer(calling, trip, olga, ed):
    calling(ed).done("create_friend", user_email=olga.email)
    assert User.objects.get(pk=olga.pk).is_unanswered
    calling(olga).done("create_friend", user_email=ed.email)
    assert not User.objects.get(pk=olga.pk).is_unanswered
    trip.remove(by=olga)
    olga.memberships.filter(trip=trip).update(introduced_by=0)
    User.objects.filter(pk=olga.pk).update(is_unanswered=True)
    calling(User.objects.get(pk=olga.pk)).done(f"undelete_group/{trip.pk}")
    assert not User.objects.get(pk=olga.pk).is_unanswered
