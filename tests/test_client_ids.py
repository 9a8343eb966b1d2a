"""What a client sends twice with one `clientId` is created once, whatever it is."""

from functools import partial
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from tests.document import OPERATIONS, has_other_plugins, problem_of
from tests.own_data import own_data
from tests.splits.journey import Journey, answers_at_once, sign_up
from trips.models import JournalEntry, Member
from trips.models.client_ids import ClientId
from trips.roles import TripRole
from users.models import Session, User
from users.tokens import token_pair

pytestmark = pytest.mark.either

CLIENT_ID = "0b7b4b0e-6c5f-4f0e-9a54-0d8a5f6f2a11"
TRIP = "/api/trips/{tripId}"
EXPENSES = f"{TRIP}/expenses"
CREATE = [
    op
    for op in OPERATIONS
    if {"200", "201"} <= op.spec["responses"].keys() and "clientId" in op.body["properties"]
]


def client_of(name):
    client = APIClient()
    session = Session.start(User.objects.filter(name=name).latest("pk"))
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token_pair(session).token}")
    return client


def body_of(world, operation):
    return {**world.bodies[str(operation)][0], "clientId": CLIENT_ID}


def other(body):
    """The same with another text."""
    names = {"text", "title", "name", "description"} & body.keys() or {"note"}
    return {**body, **dict.fromkeys(names, "Another")}


def is_taken(answer):
    return problem_of(answer, 409)["code"] == "client_id_taken"


def test_they_are_those_of_the_contract():
    assert {str(operation) for operation in CREATE if operation.method == "POST"} >= {
        *("POST /api/trips", f"POST {EXPENSES}", f"POST {TRIP}/settlements"),
        f"POST {TRIP}/guests",
    }


@pytest.mark.parametrize("operation", CREATE, ids=str)
def test_the_same_again_creates_nothing_and_answers_with_what_is_there(world, operation):
    url, body = world.url(operation), body_of(world, operation)
    made = world.client.post(url, body)
    assert (made.status_code, made.json()["clientId"]) == (201, CLIENT_ID), made.content
    rows = JournalEntry.objects.count()
    again = {**dict(reversed(body.items())), "clientId": CLIENT_ID.upper()}
    repeated = world.client.post(url, again, headers={"Idempotency-Key": "another"})
    assert (repeated.status_code, repeated.json()) == (200, made.json())
    assert repeated["Location"] == made["Location"]
    assert JournalEntry.objects.count() == rows
    assert is_taken(world.client.post(url, other(body)))
    listed = url.replace("/guests", "/members")
    for sent, found in ((CLIENT_ID, 1), (str(uuid4()), 0)):
        answer = world.client.get(f"{listed}?clientId={sent}").json()
        items = answer["items"] if isinstance(answer, dict) else answer
        assert [item["id"] for item in items] == [made.json()["id"]] * found


@pytest.mark.parametrize("operation", CREATE, ids=str)
def test_of_somebody_else_it_is_taken_but_trips_are_those_of_their_creator(world, operation):
    # Olga is not in the trips of Ed.
    url, body = world.url(operation), {**body_of(world, operation), "defaultDivision": None}
    if url != "/api/trips":
        del body["defaultDivision"]
    made = world.client.post(url, body)
    answer = client_of("Ed Editor").post(url, body)
    if url == "/api/trips":
        assert (answer.status_code, answer.json()["id"] != made.json()["id"]) == (201, True)
    else:
        assert is_taken(answer)


@pytest.mark.parametrize("operation", CREATE, ids=str)
def test_of_what_is_deleted_it_stays_taken_until_that_is_restored(world, operation):
    url, body = world.url(operation), body_of(world, operation)
    path = world.client.post(url, body)["Location"]
    assert world.client.delete(path).status_code == 204
    assert is_taken(world.client.post(url, body))
    restored = world.client.post(f"{path}/restore")
    if restored.status_code != 404:
        assert (restored.status_code, restored.json()["clientId"]) == (200, CLIENT_ID)
        assert world.client.post(url, body).status_code == 200


@pytest.mark.parametrize("operation", CREATE, ids=str)
def test_what_is_deleted_and_changes_and_the_own_data_have_it(world, operation):
    changes = world.client.get("/api/changes").json()
    url, body = world.url(operation), body_of(world, operation)
    made = world.client.post(url, body)
    if not has_other_plugins():
        items = world.client.get(f"/api/changes?since={changes['cursor']}").json()["items"]
        assert CLIENT_ID in {item["state"]["clientId"] for item in items if item["state"]}
    if not url.endswith(("/trips", "/guests")):
        held = own_data(User.objects.filter(name="Olga Owner").latest("pk"))
        assert CLIENT_ID in str(held) or "expenses" not in held
    world.client.delete(made["Location"])
    deleted = world.client.get(f"{url}?deleted=true")
    if deleted.status_code == 200:
        assert deleted.json()["items"][0]["clientId"] == CLIENT_ID
        of_another = world.client.get(f"{url}?deleted=true&clientId={uuid4()}")
        assert of_another.status_code == 400 or of_another.json()["items"] == []


@pytest.mark.parametrize("operation", CREATE, ids=str)
def test_without_one_no_statement_asks_for_it(world, operation):
    body = body_of(world, operation)
    del body["clientId"]
    with CaptureQueriesContext(connection) as queries:
        assert world.client.post(world.url(operation), body).status_code == 201
    assert not [query for query in queries if ClientId._meta.db_table in query["sql"]]


def test_it_counts_for_one_kind_in_one_place(world):
    for operation in CREATE:
        answer = world.client.post(world.url(operation), body_of(world, operation))
        assert answer.status_code == 201, operation


def test_it_never_changes_and_a_copy_and_a_preview_have_none(world):
    [create] = [op for op in CREATE if op.path == EXPENSES]
    url, body = world.url(create), body_of(world, create)
    assert world.client.post(f"{url}/preview", body).status_code == 200
    made = world.client.post(url, body)
    assert made.status_code == 201
    for sent, status in ((CLIENT_ID, 200), (str(uuid4()), 400), (None, 400)):
        answer = world.client.patch(made["Location"], {"clientId": sent, "notes": "?"})
        assert answer.status_code == status, answer.content
    # The same body still names it, as it is now.
    assert world.client.post(url, body).json()["notes"] == "?"
    file = world.client.get(f"{world.url(create).removesuffix('/expenses')}/export?format=json")
    assert "clientId" not in file.content.decode()


def test_one_id_at_once_records_one_expense(http):
    owner, member = sign_up(http), sign_up(http)
    journey = Journey.start(owner)
    journey.admit(member)
    path = f"{journey.path}/expenses"
    for rounds in range(1, 5):
        body = journey.expense_body(10, owner, member, clientId=str(uuid4()))
        same = [partial(member.call, "POST", path, body) for _number in range(5)]
        taken = [partial(owner.call, "POST", path, body) for _number in range(2)]
        answers = answers_at_once([*same, *taken])
        [created] = [answer for answer in answers if answer.status_code == 201]
        others = {answer.status_code: answer for answer in answers if answer != created}
        assert others.keys() == {200, 409}
        assert others[200].content == created.content
        assert len(journey.rows("expenses")) == rounds
    journey.adds_up()


@pytest.mark.parametrize("operation", [op for op in CREATE if op.path != "/api/trips"], ids=str)
def test_who_may_not_create_does_not_learn_what_was_created(world, operation):
    url, body = world.url(operation), body_of(world, operation)
    assert world.client.post(url, body).status_code == 201
    sent = [{**body, "clientId": pk} for pk in (CLIENT_ID, str(uuid4()))]
    found = [client_of("Vera Viewer").post(url, each).status_code for each in sent]
    assert found in [[403, 403], [409, 201]]


def test_a_trip_that_its_creator_has_left_is_gone_for_them(world):
    [create] = [op for op in CREATE if op.path == "/api/trips"]
    body = {**body_of(world, create), "defaultDivision": None}
    made = world.client.post("/api/trips", body)
    ed, own = User.objects.filter(name="Ed Editor").latest("pk"), world.client.get("/api/users/me")
    Member.objects.create(trip_id=made.json()["id"], user=ed, role=TripRole.OWNER)
    left = world.client.delete(f"{made['Location']}/members/{own.json()['id']}")
    assert left.status_code == 204, left.content
    assert is_taken(world.client.post("/api/trips", body))
