"""Lists in pages: their shape, their limits, and that no row is lost or shown twice."""

from datetime import date
from typing import Any

import pytest

from tests.document import fields_in
from tests.factories import TripFactory, join, owned_trip, settle, spend
from tests.trips.plugin_fields import PLUGIN_FIELDS

pytestmark = pytest.mark.either

ROWS = 25
SIZE = {"pageSize": 20}
PATHS = ["/api/trips", "/api/trips/my-trips", "/api/trips/{trip}/expenses",
         "/api/trips/{trip}/settlements"]  # fmt: skip


@pytest.fixture(params=PATHS)
def path(request, trip, olga, ed):
    """A list of 25 rows."""
    path = request.param.format(trip=trip.pk)
    for at in range(ROWS):
        if "/expenses" in path:
            spend(trip, 100 + at, paid_by=olga, among=[ed])
        elif "/settlements" in path:
            settle(trip, ed, olga, 100 + at)
        elif at:
            owned_trip(olga)
    return path


def test_the_first_page_has_20_rows_unless_asked_otherwise(api, olga, path):
    answer = api(olga).get(path).json()
    assert set(answer) == {"items", "total", "page", "pageSize", "totalPages"}
    assert len(answer.pop("items")) == 20
    assert answer == {"total": 25, "page": 1, "pageSize": 20, "totalPages": 2}


@pytest.mark.parametrize("size", [7, 25])
def test_the_pages_together_are_the_list(api, olga, path, size):
    client = api(olga)
    whole = client.get(f"{path}?pageSize=100").json()["items"]
    assert len(whole) == ROWS
    rows: list[Any] = []
    pages = -(-ROWS // size)
    for page in range(1, pages + 1):
        answer = client.get(f"{path}?page={page}&pageSize={size}").json()
        assert (answer["page"], answer["pageSize"], answer["totalPages"]) == (page, size, pages)
        rows += answer["items"]
    assert rows == whole


@pytest.mark.parametrize("page", [3, 10**17, 10**18 - 1, 10**18, 2**63 - 1])
def test_a_page_past_the_end_is_empty(api, olga, path, page):
    response = api(olga).get(f"{path}?page={page}")
    assert response.status_code == 200
    assert response.json() == {"items": [], "total": 25, "page": page, **SIZE, "totalPages": 2}


def test_a_page_has_at_most_100_rows(api, olga, path):
    """T54: A page has at most 100 rows."""
    client = api(olga)
    assert client.get(f"{path}?pageSize=100").status_code == 200
    assert fields_in(client.get(f"{path}?pageSize=101")) == ["pageSize"]


@pytest.mark.parametrize("path", ["/api/trips", "/api/trips/my-trips"])
def test_an_empty_list_is_a_page_too(api, sam, path):
    assert api(sam).get(path).json() == {
        "items": [],
        "total": 0,
        "page": 1,
        **SIZE,
        "totalPages": 0,
    }


@pytest.mark.parametrize("path", ["/api/trips", "/api/trips/my-trips"])
def test_trips_stand_by_their_start_the_newest_first(api, olga, path):
    starts = [date(2026, 5, 1), date(2027, 1, 1), date(2026, 5, 1), date(2020, 1, 1)]
    trips = [TripFactory(start_date=start, end_date=date(2028, 1, 1)) for start in starts]
    for trip in trips:
        join(trip, olga)
    items = api(olga).get(path).json()["items"]
    assert [item["id"] for item in items] == [trips[at].pk for at in (1, 2, 0, 3)]


@pytest.mark.parametrize("path", ["/api/trips", "/api/trips/my-trips"])
def test_the_list_shows_the_callers_own_trips_with_their_own_role(api, trip, ed, sam, ada, path):
    owned_trip(sam)
    (item,) = api(ed).get(path).json()["items"]
    detail = api(ed).get(f"/api/trips/{trip.pk}").json()
    of_detail = {"members", *PLUGIN_FIELDS}
    assert item == {key: value for key, value in detail.items() if key not in of_detail}
    assert item["currentUserRole"] == "EDITOR"
    assert api(ada).get(path).json()["total"] == 0
