"""Trip codes: their form, the preview, joining by one, and making a new one."""

import re
from itertools import chain

import pytest

from tests.cast import Api
from tests.factories import TripFactory, join
from tests.trips.bodies import lisbon
from trips.models import Trip, joining
from trips.roles import TripRole
from users.models import User

pytestmark = pytest.mark.either


def test_codes_have_8_characters_and_no_look_alikes(api: Api, olga: User) -> None:
    client = api(olga)
    codes = {client.post("/api/trips", lisbon()).json()["tripCode"] for _trip in range(30)}
    assert len(codes) == 30
    assert all(re.fullmatch("[A-Z2-9]{8}", code) for code in codes)
    assert not set("".join(codes)) & set("0O1I")
    assert len(joining.CODE_ALPHABET) ** joining.CODE_CHARS >= 2**40


@pytest.mark.parametrize("path", ["", "/{trip}/code"])
def test_a_code_that_another_trip_has_is_not_given_again(
    api: Api, trip: Trip, olga: User, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    taken = TripFactory(code="ABCDEFGH")
    letters = chain(taken.code, "JKLMNPQR")
    monkeypatch.setattr(joining.secrets, "choice", lambda _letters: next(letters))
    made = api(olga).post(f"/api/trips{path.format(trip=trip.pk)}", {} if path else lisbon())
    assert made.json()["tripCode"] == "JKLMNPQR"


def test_the_preview_shows_enough_to_decide_and_no_more(api: Api, trip: Trip, sam: User) -> None:
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


def test_the_preview_counts_who_is_there_now(api: Api, trip: Trip, vera: User, sam: User) -> None:
    api(vera).post(f"/api/trips/{trip.pk}/members/leave")
    assert api(sam).get(f"/api/trips/code/{trip.code}").json()["memberCount"] == 2


def test_codes_have_no_case(api: Api, trip: Trip, sam: User) -> None:
    client = api(sam)
    assert client.get(f"/api/trips/code/{trip.code.lower()}").status_code == 200
    response = client.post("/api/trips/join", {"tripCode": f" {trip.code.lower()} "})
    assert response.status_code == 201


@pytest.mark.parametrize(
    "code",
    ["AAAAAAA1", "AAAAAAA", "AAAAAAAAA", "A", "%25", "%00", "AAAAAAA%00", "é", "%C3%9F",
     "%F0%9F%98%80", "AAAA%20AAA", "_" * 8, "x" * 300],
)  # fmt: skip
def test_no_other_code_leads_anywhere(api: Api, trip: Trip, sam: User, code: str) -> None:
    client = api(sam)
    response = client.get(f"/api/trips/code/{code}")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert response.content == client.get("/api/trips/code/AAAAAAAA").content


@pytest.mark.parametrize(("join_role", "role"), [(None, "VIEWER"), ("EDITOR", "EDITOR")])
def test_joining_gives_the_role_that_the_trip_gives(
    api: Api, trip: Trip, olga: User, sam: User, join_role: str | None, role: str
) -> None:
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


def test_who_is_a_member_does_not_join_twice(api: Api, trip: Trip, olga: User) -> None:
    response = api(olga).post("/api/trips/join", {"tripCode": trip.code})
    assert (response.status_code, response.json()["code"]) == (409, "already_member")
    assert api(olga).get(f"/api/trips/{trip.pk}").json()["currentUserRole"] == "OWNER"


def test_an_unknown_code_is_404(api: Api, sam: User) -> None:
    response = api(sam).post("/api/trips/join", {"tripCode": "AAAAAAAA"})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_a_new_code_kills_the_old_one(api: Api, trip: Trip, olga: User, sam: User) -> None:
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


def test_a_new_code_changes_nothing_else(api: Api, trip: Trip, olga: User) -> None:
    client = api(olga)
    before = client.get(f"/api/trips/{trip.pk}").json()
    after = client.post(f"/api/trips/{trip.pk}/code").json()
    moved = {"tripCode": after["tripCode"], "updatedAt": after["updatedAt"]}
    assert after == before | moved
    assert client.get(f"/api/trips/{trip.pk}").json() == after


def test_the_code_of_a_deleted_trip_is_dead(api: Api, olga: User, sam: User) -> None:
    trip = TripFactory()
    join(trip, olga, TripRole.OWNER)
    api(olga).delete(f"/api/trips/{trip.pk}")
    assert api(sam).get(f"/api/trips/code/{trip.code}").status_code == 404
