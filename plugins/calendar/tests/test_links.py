"""Who has a link, what ends it, and what it opens."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plugins.calendar.models import CalendarLink
from plugins.calendar.tests.conftest import OWN, content
from tests.admin_client import AdminClient, told
from tests.document import problem_of
from tests.factories import PASSWORD
from tests.own_data import own_data
from tests.scoped import script_of
from tests.users.logins import bearer
from tripcompanion.observability.logs import without_secrets
from trips.models import JournalEntry
from users.models import Role, User

BOTH = pytest.mark.parametrize("path", ["calendar-link", OWN])


@BOTH
def test_a_new_link_ends_the_former_one(ledger, link, read, olga, ed, path):
    first, of_ed = link(path=path), link(ed, path)
    second = link(path=path)
    assert [read(each).status_code for each in (first, second, of_ed)] == [404, 200, 200]
    assert ledger.answer(olga, "delete", path).status_code == 204
    assert [read(each).status_code for each in (second, of_ed)] == [404, 200]
    assert ledger.answer(olga, "delete", path).status_code == 404
    assert ledger.answer(olga, "get", path).json() == {"createdAt": None, "readAt": None}


@BOTH
def test_its_owner_sees_when_it_was_made_and_read(ledger, link, read, olga, path):
    now = datetime.now(UTC).replace(microsecond=0)

    def at(minutes):
        return f"{now + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"

    def shown_at(minutes):
        with time_machine.travel(now + timedelta(minutes=minutes), tick=False):
            assert read(calendar).status_code == 200
        return ledger.answer(olga, "get", path).json()

    with time_machine.travel(now, tick=False):
        calendar = link(path=path)
    made = {"createdAt": at(0)}
    assert ledger.answer(olga, "get", path).json() == {**made, "readAt": None}
    assert shown_at(1) == {**made, "readAt": at(1)}
    assert shown_at(60) == {**made, "readAt": at(1)}
    assert shown_at(61) == {**made, "readAt": at(61)}


def test_the_secret_has_256_bits_and_only_its_digest_is_stored(link, olga, ledger):
    secret = re.fullmatch(r"/api/calendars/(tcc_[\w-]{43})\.ics", link())
    assert secret is not None
    stored = CalendarLink.objects.values().get()
    assert len(stored["digest"]) == 64
    assert secret[1] not in str(stored)
    assert secret[1] not in str(JournalEntry.objects.values())
    assert secret[1] not in str(own_data(olga))
    assert "[token].ics" in without_secrets(f"GET {secret[0]}")
    assert secret[1] not in without_secrets(f"GET {secret[0]}")


def _leave(ledger, ed, olga):
    assert ledger.answer(ed, "post", "members/leave").status_code == 204


def _put_out(ledger, ed, olga):
    assert ledger.answer(olga, "delete", f"members/{ed.pk}").status_code == 204


def _come_back(ledger, ed, olga):
    body = {"userId": ed.pk, "role": "EDITOR"}
    assert ledger.answer(olga, "post", "members", body).status_code == 201


@pytest.mark.parametrize("end", [_leave, _put_out])
def test_a_link_to_a_trip_ends_with_the_membership(ledger, link, read, ed, olga, end):
    """T216: A calendar ends for whoever is out of the trip, and does not come back."""
    of_trip, own = link(ed), link(ed, OWN)
    end(ledger, ed, olga)
    assert [read(each).status_code for each in (of_trip, own)] == [404, 200]
    _come_back(ledger, ed, olga)
    assert read(of_trip).status_code == 404


def test_a_link_is_read_by_nobody_who_may_no_longer_see_the_trip(link, read, ed, trip):
    """As a previous release beside this one ends memberships, without deleting links."""
    of_trip = link(ed)
    trip.members.filter(user=ed).update(left_at=datetime.now(UTC))
    assert read(of_trip).status_code == 404


def test_another_role_leaves_the_link(ledger, link, read, ed, olga):
    of_trip = link(ed)
    body = {"role": "VIEWER"}
    assert ledger.answer(olga, "put", f"members/{ed.pk}/role", body).status_code == 200
    assert read(of_trip).status_code == 200


def test_a_link_waits_for_a_trip_that_is_restored(ledger, link, read, olga):
    of_trip = link()
    ledger.answer(olga, "delete", ledger.url)
    assert read(of_trip).status_code == 404
    assert ledger.answer(olga, "post", "restore").status_code == 200
    assert read(of_trip).status_code == 200


def test_links_end_with_the_account(ledger, link, read, ed):
    links = [link(ed), link(ed, OWN)]
    answer = ledger.answer(ed, "delete", "/api/users/me", {"password": PASSWORD})
    assert answer.status_code == 204, answer.content
    assert [read(each).status_code for each in links] == [404, 404]
    assert not CalendarLink.objects.exists()


def test_a_deactivated_account_reads_nothing_even_with_a_link(link, read, ed):
    links = [link(ed), link(ed, OWN)]
    User.objects.filter(pk=ed.pk).update(is_active=False)
    assert [read(each).status_code for each in links] == [404, 404]


def test_the_link_of_an_admin_ends_with_that_role(ledger, link, read, ada):
    of_trip = link(ada)
    assert read(of_trip).status_code == 200
    ada.change(by=None, role=Role.USER)
    assert read(of_trip).status_code == 404
    ada.change(by=None, role=Role.ADMIN)
    assert read(of_trip).status_code == 404


def test_whatever_opens_nothing_is_the_same_404(ledger, link, read, ed, olga):
    ended, left, hidden = link(), link(ed), None
    link()
    _leave(ledger, ed, olga)
    hidden = link()
    ledger.answer(olga, "delete", ledger.url)
    secrets = (ended, left, hidden, ended.replace("tcc_", "tcc_x"), "/api/calendars/x.ics")
    answers = set()
    for path in secrets:
        with CaptureQueriesContext(connection) as captured:
            response = read(path)
        problem = problem_of(response, 404, "not_found")
        problem.pop("requestId", None)
        answers.add((response["Content-Type"], str(problem), len(captured)))
        assert response["Cache-Control"] == "no-store"
    assert len(answers) == 1


def test_a_link_opens_nothing_else(ledger, link, api, trip):
    secret = link().removeprefix("/api/calendars/").removesuffix(".ics")
    client = bearer(secret)
    for path in ("", "/activities", "/calendar-link"):
        assert client.get(f"/api/trips/{trip.pk}{path}").status_code == 401
    assert api(None).get(f"/api/invitations/{secret}").status_code == 404
    for method in ("post", "put", "patch", "delete"):
        assert getattr(api(None), method)(f"/api/calendars/{secret}.ics").status_code == 405


def test_a_scoped_token_needs_its_own_scope_and_never_gets_all_trips(trip, ledger, olga, read):
    path = f"{ledger.url}/calendar-link"
    without = bearer(script_of(olga, "trips:write", "activities:read", "calendar:read").token)
    problem_of(without.post(path), 403, "insufficient_scope")
    client = bearer(script_of(olga, "calendar:read", "calendar:write", trip=trip).token)
    assert content(read(client.post(path).json()["url"].removeprefix("http://localhost:8000")))
    problem_of(client.post(OWN), 403, "insufficient_scope")


def test_an_administrator_revokes_links(link, read, ada):
    links, admin = [link(), link(path=OWN)], AdminClient(ada)
    for row in CalendarLink.objects.all():
        assert row.digest not in admin.page(row).content.decode()
        assert told(admin.act("revoke", row)) == ["Links revoked: 1."]
    assert [read(each).status_code for each in links] == [404, 404]


def test_reading_is_limited_by_address(link, read, limits):
    calendar = link()
    limits(anon="2/min")
    answers = [read(path).status_code for path in (calendar, "/api/calendars/x.ics", calendar)]
    assert answers == [200, 404, 429]


def test_the_export_of_an_account_names_its_links(link, olga, trip):
    link()
    link(path=OWN)
    rows = own_data(olga)["calendarLinks"]
    assert [row["tripId"] for row in rows] == [trip.pk, None]
    assert all(row.keys() == {"createdAt", "readAt", "tripId"} for row in rows)
