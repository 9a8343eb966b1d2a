"""An import and an export count as what they cost."""

import json

import pytest

from plugins.exchange.tests.samples import SPLITWISE_API
from tests.test_costs import remaining
from tripcompanion.api import throttling

pytestmark = pytest.mark.either

EXPORTS = (
    "/api/trips/{trip}/export",
    "/api/trips/{trip}/export?format=xlsx",
    "/api/trips/{trip}/export?format=csv",
)


@pytest.mark.parametrize("path", EXPORTS)
def test_what_reads_a_whole_trip_has_one_limit(api, trip, olga, limits, path):
    limits(export="2/hour")
    client = api(olga)
    statuses = [client.get(path.format(trip=trip.pk)).status_code for _time in range(2)]
    assert statuses == [200, 200]
    other = EXPORTS[0] if path != EXPORTS[0] else EXPORTS[1]
    assert api(olga).get(other.format(trip=trip.pk)).status_code == 429


def test_an_export_that_takes_long_counts_as_several(api, trip, olga, limits, monkeypatch):
    limits(export="1000/hour")
    client, path = api(olga), f"/api/trips/{trip.pk}/export"
    assert [remaining(client.get(path)) for _time in range(2)] == [999, 998]
    monkeypatch.setitem(throttling.SECONDS_OF_A_REQUEST, "export", 0.0001)
    client.get(path)
    assert remaining(client.get(path)) < 990


def test_an_import_that_takes_long_counts_as_several(api, olga, limits, monkeypatch):
    limits(**{"import": "1000/hour"})
    client, file = api(olga), json.loads(SPLITWISE_API)
    planned = client.post("/api/imports", file)
    assert remaining(planned) == 999
    monkeypatch.setitem(throttling.SECONDS_OF_A_REQUEST, "import", 0.0001)
    confirmed = client.post(f"{planned['Location']}/confirm")
    assert (confirmed.status_code, remaining(confirmed)) == (200, 998)
    assert remaining(client.post("/api/imports", file)) < 990
