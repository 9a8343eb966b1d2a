"""Cursors of the changes: whose they are, how long they last, and what they hold."""

import random
import time

import pytest
from django.core import signing

from plugins.sync.cursor import Cursor
from tests.scoped import ALL, script_of
from tests.users.logins import bearer


def refused(client, cursor):
    response = client.get(f"/api/changes?since={cursor}")
    return response.status_code, response.json()["code"]


def test_a_cursor_is_for_one_account_and_for_tokens_with_the_same_rights(api, trip, olga, ed):
    """T171: A cursor is signed, and valid for one account and its rights."""
    clients = [
        api(olga), api(ed),
        bearer(script_of(olga, "trips:read").token),
        bearer(script_of(olga, *ALL, trip=trip).token),
    ]  # fmt: skip
    cursors = [client.get("/api/changes").json()["cursor"] for client in clients]
    for client in clients:
        for cursor in cursors:
            is_own = clients.index(client) == cursors.index(cursor)
            if not is_own:
                assert refused(client, cursor) == (400, "invalid")
    wide = bearer(script_of(olga, *ALL).token)
    assert wide.get(f"/api/changes?since={cursors[0]}").status_code == 200


def test_a_cursor_that_was_not_made_here_is_refused(api, trip, olga):
    client = api(olga)
    cursor = client.get("/api/changes").json()["cursor"]
    stored = [1, [olga.pk, True, 0], [trip.pk, 0], None, None]
    for forged in (
        *("", "x", "%00", "a:b:c", "ü", cursor[:-1], cursor[1:], "." + cursor, cursor + "x"),
        *(cursor.upper(), cursor + "%0A", "9" * 3000, signing.dumps(stored)),
        signing.dumps(stored, key="another", salt="splits.changes"),
    ):
        assert refused(client, forged) == (400, "invalid"), forged


def test_a_cursor_expires(api, trip, olga, monkeypatch):
    client = api(olga)
    cursor = client.get("/api/changes").json()["cursor"]
    now, day = time.time(), 24 * 3600
    monkeypatch.setattr(signing.time, "time", lambda: now + 30 * day - 60)
    assert client.get(f"/api/changes?since={cursor}").status_code == 200
    monkeypatch.setattr(signing.time, "time", lambda: now + 30 * day + 60)
    assert refused(client, cursor) == (410, "cursor_expired")


def test_a_cursor_of_another_form_or_ahead_of_the_journal_has_expired(api, trip, olga):
    for stored in ([0, "?"], [1, [olga.pk, True, 0], [trip.pk, 99], None, None]):
        text = signing.dumps(stored, salt="splits.changes", compress=True)
        assert refused(api(olga), text) == (410, "cursor_expired")


def test_a_cursor_for_a_thousand_trips_fits_into_a_url(olga):
    cursor = Cursor.of(olga)
    numbers = random.Random(7)
    cursor.positions = {
        numbers.randrange(10**8): int(20 * numbers.paretovariate(0.7)) for _trip in range(1000)
    }
    assert len(cursor.text()) < 7000
    assert Cursor.read(cursor.text(), olga) == cursor


@pytest.mark.parametrize("limit", ["07", "1e1"])
def test_the_limit_is_written_in_one_way(api, olga, limit):
    response = api(olga).get(f"/api/changes?limit={limit}")
    assert response.status_code == 400
    assert list(response.json()["errors"]) == ["limit"]
