"""Who takes another's place in an expense gets their odd cents, whoever had it before."""

import pytest

from plugins.invitations.tests.claims import accept, invite
from plugins.merging.tests.test_merges import merge
from splits.reports.audit import differences
from tests.factories import add_guest, spend
from trips.models import Member

pytestmark = pytest.mark.either


def shares(expense):
    assert list(differences(expense.trip_id)) == []
    return dict(expense.splits.values_list("participant_id", "amount_minor"))


def restored(api, expense, by):
    path = f"/api/trips/{expense.trip_id}/expenses/{expense.pk}/restore"
    assert api(by).post(path).status_code == 200


@pytest.fixture(params=[0, 1, 2])
def taxi(request, sam, trip, olga, guests):
    """Olga and two guests share five cents; who of them bears one rotates."""
    for _before in range(request.param):
        spend(trip, 100, paid_by=olga, among=[olga])
    return spend(trip, 5, paid_by=olga, among=[olga, *guests[:2]])


@pytest.fixture
def guests(trip):
    return [add_guest(trip, name) for name in ("Ann", "Ben", "Cid")]


@pytest.mark.parametrize("deleted", ["never", "first", "in between"])
def test_a_guest_is_merged_with_another_who_is_claimed(api, trip, olga, sam, guests, taxi, deleted):
    ann, _ben, cid = guests
    expected = shares(taxi)
    expected[sam.pk] = expected.pop(ann.pk)
    url = f"/api/trips/{trip.pk}/expenses/{taxi.pk}"
    if deleted == "first":
        api(olga).delete(url)
    assert merge(api, trip, ann, cid, olga).status_code == 200
    if deleted == "in between":
        api(olga).delete(url)
    assert accept(api, sam, invite(api, trip, olga, cid)).status_code == 201
    if deleted != "never":
        restored(api, taxi, olga)
    assert shares(taxi) == expected


def test_two_guests_are_merged_with_a_member_who_was_taken_out_in_between(
    api, trip, olga, ed, guests, taxi
):
    ann, ben, cid = guests
    assert merge(api, trip, ann, ed, olga).status_code == 200
    body = {"participantUserIds": [olga.pk, ben.pk, cid.pk]}
    assert api(olga).patch(f"/api/trips/{trip.pk}/expenses/{taxi.pk}", body).status_code == 200
    expected = shares(taxi)
    expected[ed.pk] = expected.pop(cid.pk)
    assert merge(api, trip, cid, ed, olga).status_code == 200
    assert shares(taxi) == expected


def test_who_leaves_a_place_to_a_guest_comes_back_in_the_place_of_another(
    sam, api, trip, olga, guests, taxi
):
    """Sam does not answer, so a guest takes the place that he had from Ann."""
    ann, ben, _cid = guests
    expected = shares(taxi)
    Member.add(trip, olga, role="EDITOR", email=sam.email)
    assert merge(api, trip, ann, sam, olga).status_code == 200
    trip.members.get(user=sam).leave(by=sam)
    expected[trip.members.latest("user_id").user_id] = expected.pop(ann.pk)
    assert shares(taxi) == expected
    assert accept(api, sam, invite(api, trip, olga, ben)).status_code == 201
    expected[sam.pk] = expected.pop(ben.pk)
    assert shares(taxi) == expected


def left_by(user, trip, expense, api, olga, *others):
    """The guest in the place that the user, who shared the expense, left without an answer."""
    Member.add(trip, olga, role="EDITOR", email=user.email)
    body = {"participantUserIds": [olga.pk, user.pk, *(other.pk for other in others)]}
    assert api(olga).patch(f"/api/trips/{trip.pk}/expenses/{expense.pk}", body).status_code == 200
    expected = shares(expense)
    trip.members.get(user=user).leave(by=user)
    guest = trip.members.latest("user_id").user
    expected[guest.pk] = expected.pop(user.pk)
    assert shares(expense) == expected
    return guest
