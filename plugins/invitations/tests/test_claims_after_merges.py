"""Somebody takes the place of a guest who was merged, or who becomes a member that there is."""

import pytest

from plugins.invitations.tests.walked import claim
from plugins.merging.tests.test_merges import merge
from splits.reports.audit import differences
from tests.factories import add_guest, settle, spend
from tests.splits.ledger import Ledger
from tests.splits.test_divisions import item, itemized


@pytest.fixture
def grandma(trip):
    return add_guest(trip)


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
    assert list(differences(trip.pk)) == []
    for dinner, parts in zip(dinners, before, strict=True):
        path = f"/api/trips/{trip.pk}/expenses/{dinner.pk}"
        assert api(olga).patch(path, {"notes": "Nice."}).status_code == 200
        assert list(dinner.splits.order_by("pk").values_list("pk", "amount_minor")) == parts
    assert list(differences(trip.pk)) == []


def test_a_member_who_accepts_takes_the_place_of_the_guest_too(api, trip, olga, ed, vera, grandma):
    spend(trip, 600, paid_by=olga, among=[vera, ed])
    spend(trip, 600, paid_by=olga, among=[olga, grandma])
    answer = claim(api, trip, olga, grandma, vera)
    assert (answer.status_code, answer.json()["role"]) == (201, "VIEWER")
    rows = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    assert [row["balance"] for row in rows] == [9, -3, -6]
    assert list(differences(trip.pk)) == []


def test_a_former_member_who_accepts_comes_back(api, trip, olga, ed, vera, grandma):
    spend(trip, 600, paid_by=olga, among=[olga, vera])
    spend(trip, 600, paid_by=olga, among=[olga, grandma])
    settle(trip, vera, olga, 300, by=olga)
    assert api(vera).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    answer = claim(api, trip, olga, grandma, vera)
    assert (answer.status_code, answer.json()["role"]) == (201, "EDITOR")
    rows = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    assert {row["user"]["name"]: row["balance"] for row in rows}["Vera Viewer"] == -3
    assert list(differences(trip.pk)) == []


def test_items_name_the_account_that_takes_the_place_of_a_guest(api, trip, olga, sam, grandma):
    ledger = Ledger(trip, api, olga)
    body = itemized(9, [item("Tea", 9, {olga: 1, grandma: 2})])
    tea = ledger.answer(olga, "post", "expenses", body).json()
    assert claim(api, trip, olga, grandma, sam).status_code == 201
    [shown] = ledger.expense(tea)["items"]
    assert shown["shares"] == {str(olga.pk): 1, str(sam.pk): 2}
    assert list(differences(trip.pk)) == []
