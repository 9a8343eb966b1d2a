"""A copy by a file keeps who bears the odd cents, also in places that somebody left."""

import pytest

from plugins.exchange.tests.copies import copied, file_of
from plugins.invitations.tests.test_positions import guests, left_by, shares, taxi
from plugins.merging.tests.test_merges import merge

__all__ = ["guests", "taxi"]
pytestmark = pytest.mark.either


def test_who_leaves_twice_without_an_answer_leaves_each_place_to_a_guest_of_its_own(
    sam, api, trip, olga, guests, taxi
):
    """Both places come from the same account; the one that was taken last is before the first."""
    first = left_by(sam, trip, taxi, api, olga)
    second = left_by(sam, trip, taxi, api, olga, first)
    expected, ann = shares(taxi), guests[0]
    body = {"participantUserIds": [olga.pk, first.pk, second.pk]}
    assert api(olga).patch(f"/api/trips/{trip.pk}/expenses/{taxi.pk}", body).status_code == 200
    assert shares(taxi) == expected
    assert merge(api, trip, first, ann, olga).status_code == 200
    expected[ann.pk] = expected.pop(first.pk)
    assert shares(taxi) == expected
    copy = copied(file_of(api, trip, olga), olga)
    assert sorted(shares(copy.expenses.latest("pk")).values()) == sorted(expected.values())
