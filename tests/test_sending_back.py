"""What was answered may be sent back, and changes nothing; expenses have a file of their own."""

from datetime import date
from decimal import Decimal

import pytest

from splits.models import DailyRate
from tests.walked import all_of
from trips.models import JournalEntry

pytestmark = pytest.mark.either


@pytest.fixture(autouse=True)
def rates(db):
    DailyRate.objects.create(currency="USD", per_euro=Decimal(2), day=date(2026, 5, 1))


def trip_with_all(client, trip, olga, ed):
    path = f"/api/trips/{trip.pk}"
    figures = {str(olga.pk): 1, str(ed.pk): 2.5}
    division = {"splitType": "SHARES", "participantUserIds": [olga.pk, ed.pk]}
    full = {
        "budget": "900.50",
        "description": "By the sea.",
        "imageUrl": "/porto.jpg",
        "categoryBudgets": {"FOOD": 300},
        "defaultDivision": {**division, "splitAmounts": figures},
    }
    assert client.patch(path, full).status_code == 200
    return path


def bare_trip(client, trip, olga, ed):
    return f"/api/trips/{trip.pk}"


def member(client, trip, olga, ed):
    return f"/api/trips/{trip.pk}/members/{ed.pk}/role"


def profile(client, trip, olga, ed):
    return f"/api/users/{olga.pk}/profile"


def read(client, path):
    """What is answered for the resource; some are in a list only."""
    place, _slash, last = path.rpartition("/")
    if client.get(path).status_code == 405 and last.isdigit():
        [row] = client.get(place).json()["items"]
        return row
    if last == "role":
        members, _slash, user_id = place.rpartition("/")
        [row] = [row for row in client.get(members).json() if str(row["user"]["id"]) == user_id]
        return row
    return client.get(place if last == "profile" else path).json()


@pytest.mark.parametrize(
    ("make", "method"),
    [
        (trip_with_all, "put"),
        (trip_with_all, "patch"),
        (bare_trip, "put"),
        (member, "put"),
        (profile, "put"),
        *all_of("SENDABLE"),
    ],
)
def test_what_was_answered_is_sent_back_and_changes_nothing(api, trip, olga, ed, make, method):
    client = api(olga)
    path = make(client, trip, olga, ed)
    before, count = read(client, path), JournalEntry.objects.count()
    answer = getattr(client, method)(path, before)
    assert answer.status_code == 200, answer.json()
    assert read(client, path) == before
    assert JournalEntry.objects.count() == count
