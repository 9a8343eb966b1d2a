"""Making a trip: its fields, their rules, and that the creator owns it."""

import pytest

from tests.trips.bodies import lisbon, summary
from tests.trips.plugin_fields import PLUGIN_FIELDS
from trips.models import Trip

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
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert list(response.json()["errors"]) == list(fields)
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
