"""Somebody takes the place of a guest who was merged, or who becomes a member that there is."""

import pytest

from plugins.invitations.tests.claims import accept, invite
from plugins.invitations.tests.walked import claim
from plugins.merging.tests.test_merges import merge
from tests.factories import add_guest, settle, spend
from tests.splits.ledger import Ledger
from tests.splits.test_divisions import item, itemized

#: It audits the trip after each test.
pytestmark = pytest.mark.usefixtures("ledger")


def test_two_guests_are_merged_and_then_claimed(api, trip, olga, ed, sam):
    granny, grandma = add_guest(trip, "Granny"), add_guest(trip)
    assert ed.pk < granny.pk < grandma.pk
    dinners = [
        spend(trip, 1000, paid_by=olga, among=[ed, olga, guest]) for guest in (grandma, granny) * 3
    ]
    before = [
        list(dinner.splits.order_by("pk").values_list("pk", "amount_minor")) for dinner in dinners
    ]
    assert merge(api, trip, granny, grandma, olga).status_code == 200
    assert claim(api, trip, olga, grandma, sam).status_code == 201
    for dinner, parts in zip(dinners, before, strict=True):
        path = f"/api/trips/{trip.pk}/expenses/{dinner.pk}"
        assert api(olga).patch(path, {"notes": "Nice."}).status_code == 200
        assert list(dinner.splits.order_by("pk").values_list("pk", "amount_minor")) == parts


def test_a_member_who_accepts_takes_the_place_of_the_guest_too(api, trip, olga, ed, vera, grandma):
    spend(trip, 600, paid_by=olga, among=[vera, ed])
    spend(trip, 600, paid_by=olga, among=[olga, grandma])
    answer = claim(api, trip, olga, grandma, vera)
    assert (answer.status_code, answer.json()["role"]) == (201, "VIEWER")
    rows = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    assert [row["balance"] for row in rows] == [9, -3, -6]


def test_a_former_member_who_accepts_comes_back(api, trip, olga, ed, vera, grandma):
    spend(trip, 600, paid_by=olga, among=[olga, vera])
    spend(trip, 600, paid_by=olga, among=[olga, grandma])
    settle(trip, vera, olga, 300, by=olga)
    assert api(vera).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    answer = claim(api, trip, olga, grandma, vera)
    assert (answer.status_code, answer.json()["role"]) == (201, "EDITOR")
    rows = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    assert {row["user"]["name"]: row["balance"] for row in rows}["Vera Viewer"] == -3


def test_items_name_the_account_that_takes_the_place_of_a_guest(api, trip, olga, sam, grandma):
    ledger = Ledger(trip, api, olga)
    body = itemized(9, [item("Tea", 9, {olga: 1, grandma: 2})])
    tea = ledger.answer(olga, "post", "expenses", body).json()
    assert claim(api, trip, olga, grandma, sam).status_code == 201
    [shown] = ledger.expense(tea)["items"]
    assert shown["shares"] == {str(olga.pk): 1, str(sam.pk): 2}


def url(trip, *parts):
    return "/".join(map(str, ("/api/trips", trip.pk, *parts)))


def restored(api, trip, kind, pk, by):
    response = api(by).post(url(trip, kind, pk, "restore"))
    assert response.status_code == 200, response.content
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
