"""Expenses that belong to activities: `activityId` of an expense, over HTTP."""

import pytest

from plugins.itinerary.models import Activity, ActivityExpense
from tests.factories import acting_as_owner, owned_trip

DINNER = {
    **{"description": "Dinner", "amount": 30, "expenseDate": "2026-05-14"},
    **{"splitType": "EQUAL"},
}


@pytest.fixture
def castle(trip, olga):
    with acting_as_owner(trip, olga):
        return Activity.add(trip, olga, title="Castle", date="2026-05-14")


@pytest.fixture
def client(api, olga):
    return api(olga)


def record(client, trip, olga, **fields):
    body = {**DINNER, "participantUserIds": [olga.pk], **fields}
    answer = client.post(f"/api/trips/{trip.pk}/expenses", body)
    assert answer.status_code == 201, answer.json()
    return answer.json()


def test_an_expense_says_to_which_activity_it_belongs(client, trip, olga, castle):
    made = record(client, trip, olga, activityId=castle.pk)
    assert made == client.get(f"/api/trips/{trip.pk}/expenses/{made['id']}").json()
    assert made["activityId"] == castle.pk
    assert client.get(f"/api/trips/{trip.pk}/expenses").json()["items"] == [made]
    activity = client.get(f"/api/trips/{trip.pk}/activities/{castle.pk}").json()
    assert activity["expenseIds"] == [made["id"]]
    [day] = [
        day
        for day in client.get(f"/api/trips/{trip.pk}/itinerary").json()["days"]
        if day["date"] == "2026-05-14"
    ]
    assert day["cost"] == 30


def test_a_put_of_what_was_read_keeps_it_and_one_without_it_ends_it(client, trip, olga, castle):
    made = record(client, trip, olga, activityId=castle.pk)
    path = f"/api/trips/{trip.pk}/expenses/{made['id']}"
    assert client.put(path, made).json() == made
    assert client.patch(path, {"description": "Lunch"}).json()["activityId"] == castle.pk
    whole = {**DINNER, "participantUserIds": [olga.pk]}
    assert client.put(path, whole).json()["activityId"] is None
    history = client.get(f"{path}/history").json()["items"]
    assert history[0]["changes"]["activityId"] == {"old": castle.pk, "new": None}
    assert "the activity" in history[0]["text"]
    assert not ActivityExpense.objects.exists()


def test_a_patch_moves_it_to_another_activity(client, trip, olga, castle):
    made = record(client, trip, olga, activityId=castle.pk)
    path = f"/api/trips/{trip.pk}/expenses/{made['id']}"
    with acting_as_owner(trip, olga):
        tower = Activity.add(trip, olga, title="Tower")
    changed = client.patch(path, {"activityId": tower.pk}).json()
    assert changed["activityId"] == tower.pk
    assert changed["updatedAt"] > made["updatedAt"]
    assert client.get(path).json() == changed


def test_an_activity_of_another_trip_or_a_deleted_one_is_refused(client, trip, olga, castle):
    other = owned_trip(olga)
    with acting_as_owner(other, olga):
        elsewhere = Activity.add(other, olga, title="Elsewhere")
    with acting_as_owner(trip, olga):
        castle.remove(olga)
    for activity_id in (elsewhere.pk, castle.pk, 10**12):
        body = {**DINNER, "participantUserIds": [olga.pk], "activityId": activity_id}
        answer = client.post(f"/api/trips/{trip.pk}/expenses", body)
        assert answer.status_code == 400
        assert answer.json()["errors"].keys() == {"activityId"}
    assert not trip.expenses.exists()


def test_deleting_either_and_restoring_it_keeps_the_link(client, trip, olga, castle):
    made = record(client, trip, olga, activityId=castle.pk)
    path = f"/api/trips/{trip.pk}/expenses/{made['id']}"
    activity = f"/api/trips/{trip.pk}/activities/{castle.pk}"
    assert client.delete(path).status_code == 204
    [deleted] = client.get(f"/api/trips/{trip.pk}/expenses?deleted=true").json()["items"]
    assert deleted["activityId"] == castle.pk
    assert client.get(activity).json()["expenseIds"] == []
    assert client.post(f"{path}/restore").json()["activityId"] == castle.pk
    restored = client.get(f"{path}/history").json()["items"][0]["changes"]
    assert restored["activityId"] == {"old": None, "new": castle.pk}

    assert client.delete(activity).status_code == 204
    gone = client.get(path).json()
    assert gone["activityId"] is None
    assert client.put(path, gone).status_code == 200
    assert client.post(f"{activity}/restore").json()["expenseIds"] == [made["id"]]
    assert client.get(path).json()["activityId"] == castle.pk
    # Whoever follows the changes of the expense hears of both.
    back, away = client.get(f"{path}/history").json()["items"][:2]
    assert away["changes"] == {"activityId": {"old": castle.pk, "new": None}}
    assert back["changes"] == {"activityId": {"old": None, "new": castle.pk}}


def test_many_expenses_at_once_name_activities(client, trip, olga, castle):
    body = {**DINNER, "participantUserIds": [olga.pk], "activityId": castle.pk}
    path = f"/api/trips/{trip.pk}/expenses/bulk"
    rows = client.post(path, {"create": [body, body]}).json()["create"]
    assert [row["activityId"] for row in rows] == [castle.pk, castle.pk]
    refused = client.post(path, {"create": [body, {**body, "activityId": 10**12}]})
    assert refused.json()["errors"].keys() == {"create.1.activityId"}
    assert trip.expenses.count() == 2
