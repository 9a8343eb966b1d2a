"""Making a trip: its fields, their rules, its dates and its code, and that the creator owns it."""

import re
from itertools import chain

import pytest

from tests.document import fields_in
from tests.factories import TripFactory
from tests.trips.bodies import lisbon, summary
from tests.trips.plugin_fields import PLUGIN_FIELDS
from trips.models import Trip, joining

pytestmark = pytest.mark.either

DETAIL = {
    "id", "title", "destination", "description", "imageUrl", "startDate", "endDate", "budget",
    "currency", "tripCode", "joinRole", "defaultDivision", "categoryBudgets", "currentUserRole",
    "members", "createdAt", "updatedAt", "clientId", *PLUGIN_FIELDS,
}  # fmt: skip


@pytest.fixture
def make(api, olga):
    client = api(olga)
    return lambda **fields: client.post("/api/trips", lisbon(**fields))


def assert_refused(response, *fields):
    assert fields_in(response) == list(fields)
    assert not Trip.objects.exists()


def test_the_creator_becomes_owner(api, make, olga):
    response = make()
    trip = response.json()
    assert response.status_code == 201
    assert response["Location"] == f"/api/trips/{trip['id']}"
    assert set(trip) == DETAIL
    assert trip["currentUserRole"] == "OWNER"
    (member,) = trip["members"]
    assert set(member) == {"id", "clientId", "tripId", "user", "role", "joinedAt"}
    assert (member["tripId"], member["role"]) == (trip["id"], "OWNER")
    assert member["user"] == summary(olga)
    assert api(olga).get(response["Location"]).json() == trip


def test_only_four_fields_are_required_the_others_have_defaults(make):
    trip = make().json()
    defaults = ("description", "imageUrl", "budget", "currency", "joinRole")
    assert [trip[field] for field in defaults] == ["", None, None, "EUR", "VIEWER"]


def test_every_field_can_be_given(make):
    given = {
        "description": "Five days of trams and tarts.", "imageUrl": "/images/lisbon.webp",
        "budget": 1200.5, "currency": "USD", "joinRole": "EDITOR",
    }  # fmt: skip
    trip = make(**given).json()
    assert {field: trip[field] for field in given} == given


def test_the_currency_defaults_to_that_of_the_creator(api, make, olga):
    api(olga).put(f"/api/users/{olga.pk}/profile", {"currency": "JPY"})
    trip = make(budget=1200.5).json()
    assert (trip["currency"], trip["budget"]) == ("JPY", 1201)


@pytest.mark.parametrize("title", ["L", "l" * 100, "  Lisbon  ", "Lisboa 🇵🇹", "<script>"])
def test_titles_are_trimmed_and_at_most_100_characters(make, title):
    assert make(title=title).json()["title"] == title.strip()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("imageUrl", "https://example.com/" + "x" * 2029), ("imageUrl", ""),
        ("joinRole", "OWNER"), ("currency", "XAU"), ("currency", " EUR "),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_a_wrong_value_is_refused_on_its_field(make, field, value):
    assert_refused(make(**{field: value}), field)


def test_a_description_may_have_2000_characters_and_may_be_empty(make):
    assert make(description="l" * 2000).json()["description"] == "l" * 2000
    assert make(description="").json()["description"] == ""


def test_codes_have_8_characters_and_no_look_alikes(api, olga):
    client = api(olga)
    codes = {client.post("/api/trips", lisbon()).json()["tripCode"] for _trip in range(30)}
    assert len(codes) == 30
    assert all(re.fullmatch("[A-Z2-9]{8}", code) for code in codes)
    assert not set("".join(codes)) & set("0O1I")
    assert len(joining.CODE_ALPHABET) ** joining.CODE_CHARS >= 2**40


def test_a_code_that_another_trip_has_is_not_given_again(api, olga, monkeypatch):
    letters = chain(TripFactory(code="ABCDEFGH").code, "JKLMNPQR")
    monkeypatch.setattr(joining.secrets, "choice", lambda _letters: next(letters))
    assert api(olga).post("/api/trips", lisbon()).json()["tripCode"] == "JKLMNPQR"


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-05-14", "2026-05-14"),
        ("2024-02-29", "2024-03-01"),
        ("0001-01-01", "9999-12-31"),
        ("1999-12-31", "2000-01-01"),
    ],
)
def test_a_trip_may_last_a_day_or_an_age(api, olga, start, end):
    client = api(olga)
    location = client.post("/api/trips", lisbon(startDate=start, endDate=end))["Location"]
    trip = client.get(location).json()
    assert (trip["startDate"], trip["endDate"]) == (start, end)


def test_a_trip_does_not_end_before_it_starts(api, olga):
    assert fields_in(api(olga).post("/api/trips", lisbon(endDate="2026-05-13"))) == ["endDate"]
    assert not Trip.objects.exists()


@pytest.mark.parametrize("change", [{"startDate": "2026-05-19"}, {"endDate": "2026-05-13"}])
def test_nor_after_a_change_of_either_end(api, trip, olga, change):
    client = api(olga)
    before = client.get(f"/api/trips/{trip.pk}").json()
    for response in (
        client.patch(f"/api/trips/{trip.pk}", change),
        client.put(f"/api/trips/{trip.pk}", lisbon(**change)),
    ):
        assert fields_in(response) == ["endDate"]
    assert client.get(f"/api/trips/{trip.pk}").json() == before


def test_both_ends_can_move_past_each_other_at_once(api, trip, olga):
    moved = {"startDate": "2027-01-01", "endDate": "2027-01-02"}
    answer = api(olga).patch(f"/api/trips/{trip.pk}", moved).json()
    assert {field: answer[field] for field in moved} == moved
