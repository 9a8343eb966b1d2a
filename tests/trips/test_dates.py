"""Dates of a trip: `YYYY-MM-DD`, and never an end before the start."""

import pytest

from tests.trips.bodies import lisbon
from trips.models import Trip

pytestmark = pytest.mark.either


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
    response = api(olga).post("/api/trips", lisbon(endDate="2026-05-13"))
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert list(response.json()["errors"]) == ["endDate"]
    assert not Trip.objects.exists()


@pytest.mark.parametrize("change", [{"startDate": "2026-05-19"}, {"endDate": "2026-05-13"}])
def test_nor_after_a_change_of_either_end(api, trip, olga, change):
    client = api(olga)
    before = client.get(f"/api/trips/{trip.pk}").json()
    for response in (
        client.patch(f"/api/trips/{trip.pk}", change),
        client.put(f"/api/trips/{trip.pk}", lisbon(**change)),
    ):
        assert response.status_code == 400
        assert list(response.json()["errors"]) == ["endDate"]
    assert client.get(f"/api/trips/{trip.pk}").json() == before


def test_both_ends_can_move_past_each_other_at_once(api, trip, olga):
    moved = {"startDate": "2027-01-01", "endDate": "2027-01-02"}
    answer = api(olga).patch(f"/api/trips/{trip.pk}", moved).json()
    assert {field: answer[field] for field in moved} == moved
