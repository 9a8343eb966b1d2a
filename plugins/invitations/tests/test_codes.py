"""Trip codes: the preview, joining by one, and making a new one."""

import re
from itertools import chain

import pytest
from django.core.management import call_command

from tests.document import problem_of
from tests.factories import TripFactory, owned_trip
from tests.security.test_replays import end, keyed, not_found
from tests.trips.test_adding_members import abandoned
from tests.trips.test_answers_to_changes import remove_after
from tests.trips.test_deleted_trips import delete, lived, restored
from tests.trips.test_quotas import assert_limit
from tests.trips.test_scoped_access import confined
from tests.users.test_throttles import assert_throttled
from trips.models import Trip, joining

__all__ = ["abandoned", "lived"]

pytestmark = pytest.mark.either


def test_the_preview_shows_enough_to_decide_and_no_more(api, trip, sam):
    """T12: A trip code returns only a preview and cannot be guessed."""
    response = api(sam).get(f"/api/trips/code/{trip.code}")
    assert response.status_code == 200
    assert response.json() == {
        "title": trip.title,
        "destination": "Lisbon",
        "startDate": "2026-05-14",
        "endDate": "2026-05-18",
        "memberCount": 3,
    }


def test_the_preview_counts_who_is_there_now(api, trip, vera, sam):
    api(vera).post(f"/api/trips/{trip.pk}/members/leave")
    assert api(sam).get(f"/api/trips/code/{trip.code}").json()["memberCount"] == 2


def test_codes_have_no_case(api, trip, sam):
    client = api(sam)
    assert client.get(f"/api/trips/code/{trip.code.lower()}").status_code == 200
    assert client.post("/api/trips/join", {"tripCode": f" {trip.code.lower()} "}).status_code == 201


@pytest.mark.parametrize(
    "code",
    ["AAAAAAA1", "AAAAAAA", "AAAAAAAAA", "A", "%25", "%00", "AAAAAAA%00", "é", "%C3%9F",
     "%F0%9F%98%80", "AAAA%20AAA", "_" * 8, "x" * 300],
)  # fmt: skip
def test_no_other_code_leads_anywhere(api, trip, sam, code):
    client = api(sam)
    response = client.get(f"/api/trips/code/{code}")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert response.content == client.get("/api/trips/code/AAAAAAAA").content


@pytest.mark.parametrize(("join_role", "role"), [(None, "VIEWER"), ("EDITOR", "EDITOR")])
def test_joining_gives_the_role_that_the_trip_gives(api, trip, olga, sam, join_role, role):
    """T69: A stranger can join by the code only, with the role that the trip defines."""
    if join_role:
        api(olga).patch(f"/api/trips/{trip.pk}", {"joinRole": join_role})
    client = api(sam)
    response = client.post("/api/trips/join", {"tripCode": trip.code})
    member = response.json()
    assert response.status_code == 201
    assert response["Location"] == f"/api/trips/{trip.pk}/members/{sam.pk}"
    assert (member["tripId"], member["role"]) == (trip.pk, role)
    assert member["user"]["id"] == sam.pk
    assert client.get(response["Location"]).json() == member
    assert client.get(f"/api/trips/{trip.pk}").json()["currentUserRole"] == role


def test_who_is_a_member_does_not_join_twice(api, trip, olga):
    problem_of(api(olga).post("/api/trips/join", {"tripCode": trip.code}), 409, "already_member")
    assert api(olga).get(f"/api/trips/{trip.pk}").json()["currentUserRole"] == "OWNER"


def test_a_new_code_kills_the_old_one(api, trip, olga, sam):
    response = api(olga).post(f"/api/trips/{trip.pk}/code")
    renewed = response.json()
    assert response.status_code == 200
    assert renewed["id"] == trip.pk
    assert re.fullmatch("[A-Z2-9]{8}", renewed["tripCode"])
    assert renewed["tripCode"] != trip.code
    client = api(sam)
    assert client.get(f"/api/trips/code/{trip.code}").status_code == 404
    assert client.post("/api/trips/join", {"tripCode": trip.code}).status_code == 404
    assert client.get(f"/api/trips/code/{renewed['tripCode']}").status_code == 200
    assert client.post("/api/trips/join", {"tripCode": renewed["tripCode"]}).status_code == 201


def test_a_new_code_changes_nothing_else(api, trip, olga):
    client = api(olga)
    before = client.get(f"/api/trips/{trip.pk}").json()
    after = client.post(f"/api/trips/{trip.pk}/code").json()
    assert after == before | {"tripCode": after["tripCode"], "updatedAt": after["updatedAt"]}
    assert client.get(f"/api/trips/{trip.pk}").json() == after


def test_codes_of_other_trips_lead_nowhere(trip, olga, sam):
    foreign = owned_trip(sam)
    client = confined(olga, trip)
    assert client.get(f"/api/trips/code/{trip.code}").status_code == 200
    assert client.get(f"/api/trips/code/{foreign.code}").status_code == 404
    assert client.post("/api/trips/join", {"tripCode": foreign.code}).status_code == 404
    assert not foreign.members.filter(user=olga).exists()


def test_joining_by_code_takes_a_confirmed_address_if_the_settings_say_so(
    api, trip, olga, sam, settings
):
    settings.REQUIRE_VERIFIED_EMAIL = True
    client = api(sam)
    problem_of(client.post("/api/trips/join", {"tripCode": trip.code}), 403, "email_unverified")
    assert not trip.members.filter(user=sam).exists()
    sam.verify_email()
    assert client.post("/api/trips/join", {"tripCode": trip.code}).status_code == 201


def test_an_owner_adds_whom_they_like(api, trip, olga, sam, settings):
    settings.REQUIRE_VERIFIED_EMAIL = True
    assert api(olga).post(f"/api/trips/{trip.pk}/members", {"email": sam.email}).status_code == 201


def test_joining_by_code_counts_as_a_look_up(api, limits, trip, sam):
    limits(lookup="2/hour")
    client = api(sam)
    client.get("/api/trips/code/XXXXXXXX")
    assert client.post("/api/trips/join", {"tripCode": "XXXXXXXX"}).status_code == 404
    assert_throttled(client.post("/api/trips/join", {"tripCode": trip.code}))
    assert client.get("/api/trips").json()["total"] == 0


def test_t142_the_answer_to_joining_is_not_replayed_to_who_was_removed(trip, sam):
    client, body = keyed(sam), {"tripCode": trip.code}
    assert client.post("/api/trips/join", body).status_code == 201
    assert client.post("/api/trips/join", body)["Idempotency-Replayed"] == "true"
    end(sam)
    refused = client.post("/api/trips/join", body)
    assert (refused.status_code, refused.content) == (404, not_found(client))


def test_the_code_of_an_abandoned_trip_is_invalid(api, abandoned, sam):
    """T155: Nobody gets into a trip whose only member deleted their account."""
    client = api(sam)
    assert client.get(f"/api/trips/code/{abandoned.code}").status_code == 404
    problem_of(client.post("/api/trips/join", {"tripCode": abandoned.code}), 404, "not_found")
    call_command("audit_ledger")


def test_a_code_works_again_when_its_trip_is_restored(api, lived, olga, sam):
    delete(api, lived, olga)
    assert api(sam).get(f"/api/trips/code/{lived.code}").status_code == 404
    assert api(sam).post("/api/trips/join", {"tripCode": lived.code}).status_code == 404
    restored(api, lived, olga)
    assert api(sam).get(f"/api/trips/code/{lived.code}").json()["memberCount"] == 4


def test_a_code_is_invalid_while_no_owner_can_log_in(api, trip, olga, sam):
    olga.deactivate(by=None)
    assert api(sam).post("/api/trips/join", {"tripCode": trip.code}).status_code == 404


def test_who_left_comes_back_with_the_role_that_the_trip_gives(api, trip, ed):
    assert api(ed).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    response = api(ed).post("/api/trips/join", {"tripCode": trip.code})
    assert (response.status_code, response.json()["role"]) == (201, "VIEWER")
    assert len(api(ed).get(f"/api/trips/{trip.pk}/members").json()) == 3


def test_nobody_joins_above_a_quota(api, trip, sam, settings):
    settings.QUOTA_TRIPS = 0
    assert_limit(api(sam).post("/api/trips/join", {"tripCode": trip.code}), 0)
    settings.QUOTA_TRIPS, settings.QUOTA_MEMBERS = 1, 3
    assert_limit(api(sam).post("/api/trips/join", {"tripCode": trip.code}), 3)
    settings.QUOTA_MEMBERS = 4
    assert api(sam).post("/api/trips/join", {"tripCode": trip.code}).status_code == 201


def test_a_new_code_is_none_that_another_trip_has(api, trip, olga, monkeypatch):
    letters = chain(TripFactory(code="ABCDEFGH").code, "JKLMNPQR")
    monkeypatch.setattr(joining.secrets, "choice", lambda _letters: next(letters))
    assert api(olga).post(f"/api/trips/{trip.pk}/code").json()["tripCode"] == "JKLMNPQR"


@pytest.mark.django_db(transaction=True)
def test_whoever_renewed_a_code_is_answered_it_even_if_removed_at_that_instant(
    api, trip, olga, monkeypatch
):
    remove_after(monkeypatch, Trip, "renew_code", olga)
    answer = api(olga).post(f"/api/trips/{trip.pk}/code")
    trip.refresh_from_db()
    assert (answer.status_code, answer.json()["tripCode"]) == (200, trip.code)
