"""Reading, replacing, patching and deleting a trip."""

import pytest

from tests.factories import join
from tests.trips.bodies import lisbon
from trips.roles import TripRole

pytestmark = pytest.mark.either

WHOLE = lisbon(
    title="Porto in June", destination="Porto", description="Wine.", imageUrl="https://a.example/p",
    startDate="2026-06-01", endDate="2026-06-03", budget=250, currency="USD", joinRole="EDITOR",
)  # fmt: skip


def test_everybody_reads_the_whole_trip_with_their_own_role(api, trip, olga, ed, vera):
    shown = {user: api(user).get(f"/api/trips/{trip.pk}").json() for user in (olga, ed, vera)}
    roles = [body.pop("currentUserRole") for body in shown.values()]
    assert roles == ["OWNER", "EDITOR", "VIEWER"]
    assert shown[olga] == shown[ed] == shown[vera]
    assert shown[vera]["tripCode"] == trip.code


def test_members_stand_in_the_order_in_which_they_joined(api, trip, olga, sam):
    join(trip, sam, TripRole.OWNER)
    members = api(olga).get(f"/api/trips/{trip.pk}").json()["members"]
    names = [member["user"]["name"] for member in members]
    assert names == ["Olga Owner", "Ed Editor", "Vera Viewer", "Sam Stranger"]
    assert members == api(olga).get(f"/api/trips/{trip.pk}/members").json()


def test_put_replaces_every_field(api, trip, olga):
    client = api(olga)
    response = client.put(f"/api/trips/{trip.pk}", WHOLE)
    assert response.status_code == 200
    assert {field: response.json()[field] for field in WHOLE} == WHOLE
    assert client.get(f"/api/trips/{trip.pk}").json() == response.json()


def test_put_gives_absent_optional_fields_their_default(api, trip, olga):
    client = api(olga)
    client.put(f"/api/trips/{trip.pk}", WHOLE)
    answer = client.put(f"/api/trips/{trip.pk}", lisbon()).json()
    defaults = ("description", "imageUrl", "budget", "joinRole")
    assert [answer[field] for field in defaults] == ["", None, None, "VIEWER"]
    assert answer["title"] == "Lisbon in May"


@pytest.mark.parametrize(("field", "value"), WHOLE.items())
def test_patch_changes_the_one_field_that_was_sent(api, trip, olga, field, value):
    client = api(olga)
    client.put(f"/api/trips/{trip.pk}", lisbon(endDate="2026-07-01"))
    if field == "endDate":
        value = "2026-05-20"
    before = client.get(f"/api/trips/{trip.pk}").json()
    response = client.patch(f"/api/trips/{trip.pk}", {field: value})
    after = response.json()
    assert response.status_code == 200
    assert after["updatedAt"] > before["updatedAt"]
    assert after == before | {field: value, "updatedAt": after["updatedAt"]}
    assert client.get(f"/api/trips/{trip.pk}").json() == after


def test_null_clears_what_is_nullable_and_leaves_the_rest(api, trip, olga):
    path, client = f"/api/trips/{trip.pk}", api(olga)
    full = {"description": "Trams", "imageUrl": "/a.webp", "budget": 10, "joinRole": "EDITOR"}
    before = client.patch(path, full).json()
    names = ("description", "currency", "joinRole", "imageUrl", "budget")
    after = client.patch(path, dict.fromkeys(names))
    assert after.status_code == 200
    cleared = {"imageUrl": None, "budget": None, "updatedAt": after.json()["updatedAt"]}
    assert after.json() == before | cleared
