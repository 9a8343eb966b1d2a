"""Reading, replacing, patching and deleting a trip."""

import pytest

from splits.models import Expense, Settlement, Split
from tests.factories import TripFactory, join, purge, spend
from tests.trips.bodies import lisbon
from trips.models import Member, Trip
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


def test_an_administrator_reads_as_an_owner(api, trip, ada):
    assert api(ada).get(f"/api/trips/{trip.pk}").json()["currentUserRole"] == "OWNER"


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


def test_a_deleted_trip_is_gone_with_everything_in_it(api, trip, olga, ed):
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    client = api(olga)
    split = expense.splits.get(participant=ed)
    client.put(f"/api/expenses/{expense.pk}/splits/{split.pk}/pay")
    settlement = {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": 5}
    client.post(f"/api/trips/{trip.pk}/settlements", settlement)
    response = client.delete(f"/api/trips/{trip.pk}")
    assert (response.status_code, response.content) == (204, b"")
    for path in ("", "/members", "/expenses", "/settlements", "/balances", "/settle-up"):
        assert client.get(f"/api/trips/{trip.pk}{path}").status_code == 404
    assert client.get(f"/api/expenses/{expense.pk}/splits").status_code == 404
    assert client.delete(f"/api/trips/{trip.pk}").status_code == 404
    purge(trip)
    for model in (Trip, Member, Expense, Split, Settlement):
        assert not model.objects.exists()


def test_a_deleted_trip_takes_its_debts_along(api, trip, olga, ed):
    spend(trip, 1000, paid_by=olga, among=[olga, ed])
    api(olga).delete(f"/api/trips/{trip.pk}")
    client = api(ed)
    assert client.get(f"/api/users/{ed.pk}/pending-debts").json() == []
    assert client.get(f"/api/users/{ed.pk}/total-debt").json() == 0


def test_deleting_one_trip_leaves_the_others(api, trip, olga):
    other = TripFactory()
    join(other, olga, TripRole.OWNER)
    api(olga).delete(f"/api/trips/{trip.pk}")
    assert api(olga).get(f"/api/trips/{other.pk}").status_code == 200


def test_null_clears_what_is_nullable_and_leaves_the_rest(api, trip, olga):
    path, client = f"/api/trips/{trip.pk}", api(olga)
    full = {"description": "Trams", "imageUrl": "/a.webp", "budget": 10, "joinRole": "EDITOR"}
    before = client.patch(path, full).json()
    names = ("description", "currency", "joinRole", "imageUrl", "budget")
    after = client.patch(path, dict.fromkeys(names))
    assert after.status_code == 200
    cleared = {"imageUrl": None, "budget": None, "updatedAt": after.json()["updatedAt"]}
    assert after.json() == before | cleared
