"""Whoever changed something is answered what they did, even if they are removed at that instant."""

import pytest
from django.db import transaction
from django.utils import timezone

from trips.models import Trip

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.either]


def remove_after(monkeypatch, owner, name, user):
    """Remove `user` from all trips as soon as a command, `owner.name`, is committed."""
    command = getattr(owner, name)

    def run(*arguments, **options):
        answer = command(*arguments, **options)
        leave = user.memberships.present().update
        transaction.on_commit(lambda: leave(left_at=timezone.now()))
        return answer

    monkeypatch.setattr(owner, name, run)


def test_a_trip_is_answered_as_it_was_changed(api, trip, olga, monkeypatch):
    remove_after(monkeypatch, Trip, "change", olga)
    path = f"/api/trips/{trip.pk}"
    answer = api(olga).patch(path, {"title": "Porto"})
    assert (answer.status_code, answer.json()["title"]) == (200, "Porto")
    assert api(olga).get(path).status_code == 404


def test_a_trip_is_answered_as_it_was_restored(api, trip, olga, monkeypatch):
    path = f"/api/trips/{trip.pk}"
    api(olga).delete(path)
    remove_after(monkeypatch, Trip, "restore", olga)
    answer = api(olga).post(f"{path}/restore")
    assert (answer.status_code, answer.json()["title"]) == (200, trip.title)
    assert api(olga).get(path).status_code == 404
