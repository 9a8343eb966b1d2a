"""Who replaces a guest does so in deleted entries, too, and these are restored accordingly."""

import pytest

from plugins.invitations.tests.claims import accept, invite
from plugins.merging.tests.test_merges import merge
from splits.reports.audit import differences
from tests.factories import add_guest, settle, spend


def url(trip, *parts):
    return "/".join(map(str, ("/api/trips", trip.pk, *parts)))


@pytest.fixture
def grandma(trip):
    return add_guest(trip)


def restored(api, trip, kind, pk, by):
    response = api(by).post(url(trip, kind, pk, "restore"))
    assert response.status_code == 200, response.content
    assert list(differences(trip.pk)) == []
    return response.json()


def test_an_account_that_claims_a_guest_has_its_place_in_what_was_deleted(
    api, trip, olga, ed, sam, grandma
):
    """T177: Who takes a guest's place takes it in deleted entries, too."""
    dinner = spend(trip, 1001, paid_by=olga, paid_by_user={grandma.pk: 1001}, among=[ed, grandma])
    payment = settle(trip, ed, grandma, 200, by=olga)
    client = api(olga)
    shown = client.get(url(trip, "expenses", dinner.pk)).json()
    for kind, row in (("expenses", dinner), ("settlements", payment)):
        assert client.delete(url(trip, kind, row.pk)).status_code == 204
    assert accept(api, sam, invite(api, trip, olga, grandma)).status_code == 201
    [listed] = client.get(url(trip, "expenses?deleted=true")).json()["items"]
    assert listed["paidBy"]["id"] == sam.pk
    back = restored(api, trip, "expenses", dinner.pk, olga)
    assert [row["participant"]["id"] for row in back["splits"]] == [ed.pk, sam.pk]
    for name in ("id", "amount"):
        assert [row[name] for row in back["splits"]] == [row[name] for row in shown["splits"]]
    assert restored(api, trip, "settlements", payment.pk, olga)["to"]["id"] == sam.pk


@pytest.mark.parametrize("position", [0, 1, 2])
def test_odd_cents_of_what_was_deleted_before_a_merge_stay_where_they_are(
    api, trip, olga, ed, vera, grandma, position
):
    """Ed has a lower id than Vera, the guest whose entries he gets has a higher one."""
    for _before in range(position):
        spend(trip, 100, paid_by=olga, among=[olga])
    taxi = spend(trip, 2, paid_by=olga, among=[olga, vera, grandma])
    shares = dict(taxi.splits.values_list("participant_id", "amount_minor"))
    assert api(olga).delete(url(trip, "expenses", taxi.pk)).status_code == 204
    assert merge(api, trip, grandma, ed, olga).status_code == 200
    restored(api, trip, "expenses", taxi.pk, olga)
    shares[ed.pk] = shares.pop(grandma.pk)
    assert dict(taxi.splits.values_list("participant_id", "amount_minor")) == shares
