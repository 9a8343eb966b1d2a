"""Attachments go along with an expense that is moved, and stay when it is copied."""

import pytest

from plugins.attachments.models import Attachment
from plugins.attachments.processing import process
from plugins.attachments.tests.conftest import stored
from plugins.attachments.tests.pictures import PDF, picture, send
from tests.factories import TripFactory, join
from trips.models import JournalEntry
from trips.roles import TripRole


@pytest.fixture
def other(olga, ed, sam):
    """A trip of Olga, Ed and Sam."""
    found = TripFactory()
    for user in (olga, ed, sam):
        join(found, user, TripRole.OWNER)
    return found


def carry(client, dinner, other, word):
    path = f"/api/trips/{dinner.trip_id}/expenses/{dinner.pk}/{word}"
    return client.post(path, {"tripId": other.pk})


def listed(client, expense_id):
    return client.get(f"/api/expenses/{expense_id}/attachments").json()["items"]


def test_a_move_takes_them_along(attach, api, olga, vera, sam, dinner, other):
    made = [attach(PDF, "bill.pdf"), attach(picture())]
    process()
    client = api(olga)
    before = listed(client, dinner.pk)
    assert api(sam).get(made[0]["url"]).status_code == 404
    moved = carry(client, dinner, other, "move").json()
    assert listed(client, moved["id"]) == before
    assert [row["id"] for row in before] == [row["id"] for row in made]
    for row in before:
        assert api(sam).get(row["url"]).status_code == 200
        assert api(vera).get(row["url"]).status_code == 404
    changes = JournalEntry.objects.filter(trip=other, expense_id=moved["id"]).order_by("number")
    assert [row.changes["attachments"]["new"] for row in changes[1:]] == [row["id"] for row in made]
    path = f"/api/trips/{dinner.trip_id}/expenses/{dinner.pk}/restore"
    assert client.post(path).status_code == 200
    assert listed(client, dinner.pk) == []
    assert listed(client, moved["id"]) == before


def test_a_copy_has_none(attach, api, olga, dinner, other, folder):
    made = attach(PDF)
    assert listed(api(olga), carry(api(olga), dinner, other, "copy").json()["id"]) == []
    assert [row["id"] for row in listed(api(olga), dinner.pk)] == [made["id"]]
    assert len(stored(folder)) == 1


@pytest.mark.parametrize("quota", ["QUOTA_ATTACHMENTS", "QUOTA_ATTACHMENT_MB"])
def test_a_trip_without_room_takes_neither_them_nor_the_expense(
    attach, api, olga, dinner, other, settings, quota
):
    client, large = api(olga), PDF.ljust(300_000, b"\n")
    for _file in range(2):
        attach(large)
    for _file in range(2):
        assert send(client, f"/api/trips/{other.pk}/attachments", large).status_code == 201
    setattr(settings, quota, {"QUOTA_ATTACHMENTS": 3, "QUOTA_ATTACHMENT_MB": 1}[quota])
    before = listed(client, dinner.pk)
    refused = carry(client, dinner, other, "move")
    assert (refused.status_code, refused.json()["code"]) == (409, "quota_exceeded")
    assert listed(client, dinner.pk) == before
    assert client.get(f"/api/trips/{other.pk}/expenses").json()["total"] == 0
    setattr(settings, quota, 4)
    assert carry(client, dinner, other, "move").status_code == 201


def test_a_picture_is_cleaned_in_its_new_trip(attach, api, olga, dinner, other, folder):
    """The worker that has it meanwhile finds it gone, and another one takes it."""
    attach(picture())
    late = Attachment.claim()
    assert late is not None
    moved = carry(api(olga), dinner, other, "move").json()
    late.refuse("unreadable")
    assert listed(api(olga), moved["id"])[0]["state"] == "processing"
    assert process()
    [shown] = listed(api(olga), moved["id"])
    assert shown["state"] == "ready"
    assert api(olga).get(shown["url"]).status_code == 200
    assert len(stored(folder)) == 2
