"""A POST with an idempotency key acts once, and is answered the same ever after."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from tests.trips.bodies import lisbon
from trips.models import Trip


def post(client, path, body, key):
    return client.post(path, body, headers={"Idempotency-Key": key})


def test_a_repeated_key_answers_the_same_and_acts_once(api, olga):
    """T77: A repeated idempotency key takes effect once."""
    client = api(olga)
    first = post(client, "/api/trips", lisbon(), "k-1")
    second = post(client, "/api/trips", lisbon(), "k-1")
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert second["Location"] == first["Location"]
    assert "Idempotency-Replayed" not in first
    assert second["Idempotency-Replayed"] == "true"
    assert Trip.objects.count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no such setting")
def test_a_key_is_waited_for_longer_than_the_locks_that_follow(api, olga):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '1234ms'")
        assert post(api(olga), "/api/trips", lisbon(), "k-1").status_code == 201
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("1234ms",)


def test_the_order_of_members_of_the_body_does_not_matter(api, olga):
    client = api(olga)
    first = post(client, "/api/trips", lisbon(), "k-1")
    again = post(client, "/api/trips", dict(reversed(lisbon().items())), "k-1")
    assert again.json() == first.json()


def test_another_body_under_a_used_key_is_refused(api, olga):
    """T78: A used key is rejected for any other request."""
    client = api(olga)
    post(client, "/api/trips", lisbon(), "k-1")
    other = post(client, "/api/trips", lisbon() | {"title": "Porto"}, "k-1")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert Trip.objects.count() == 1


def test_another_path_under_a_used_key_is_refused(api, olga, trip):
    client = api(olga)
    post(client, "/api/trips", lisbon(), "k-1")
    other = post(client, f"/api/trips/{trip.pk}/guests", {"name": "Bert"}, "k-1")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")


def test_a_key_is_of_its_user_alone(api, olga, ed):
    """T79: A key belongs to one user."""
    first = post(api(olga), "/api/trips", lisbon(), "k-1")
    second = post(api(ed), "/api/trips", lisbon(), "k-1")
    assert second.status_code == 201
    assert second.json()["id"] != first.json()["id"]


def test_a_refused_body_leaves_the_key_unused(api, olga):
    """T82: A rejected request does not use up its key."""
    client = api(olga)
    assert post(client, "/api/trips", lisbon() | {"title": ""}, "k-1").status_code == 400
    assert post(client, "/api/trips", lisbon(), "k-1").status_code == 201


def test_a_conflict_leaves_the_key_unused(api, olga, trip, ed):
    path = f"/api/trips/{trip.pk}/members"
    client = api(olga)
    assert post(client, path, {"userId": ed.pk}, "k-1").status_code == 409
    client.delete(f"{path}/{ed.pk}")
    assert post(client, path, {"userId": ed.pk}, "k-1").status_code == 201


def test_a_key_is_forgotten_after_a_day(api, olga):
    post(api(olga), "/api/trips", lisbon(), "k-1")
    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        later = post(api(olga), "/api/trips", lisbon(), "k-1")
    assert later.status_code == 201
    assert "Idempotency-Replayed" not in later
    assert Trip.objects.count() == 2


def test_logging_in_ignores_the_key(api, olga):
    body = {"email": olga.email, "password": "four-green-suitcases"}
    first = post(api(None), "/api/users/login", body, "k-1")
    second = post(api(None), "/api/users/login", body, "k-1")
    assert first.json()["token"] != second.json()["token"]
