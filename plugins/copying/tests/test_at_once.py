"""Moves at the same time, and retries of them."""

from functools import partial

import pytest
from django.utils import timezone

from tests.factories import owned_trip, spend
from tests.security.test_replays import end, keyed, not_found
from tests.splits.journey import Journey, at_once, sign_up
from trips.models import Member


def test_expenses_that_are_moved_in_both_directions_at_once_all_arrive(server, http):
    owner = sign_up(http)
    here, there = Journey.start(owner), Journey.start(owner)
    calls = [
        partial(owner.call, "POST", f"{path}/{row['id']}/move", {"tripId": other.id})
        for source, other in ((here, there), (there, here))
        for path in [f"{source.path}/expenses"]
        for row in [source.spend(10, owner) for _time in range(5)]
    ]
    assert at_once(calls) == {(201, ""): 10}
    here.adds_up()
    there.adds_up()
    assert "no difference" in server.manage("audit_ledger").stdout


@pytest.mark.parametrize("word", ["copy", "move"])
def test_t142_an_expense_in_another_trip_is_shown_to_its_members(trip, olga, word):
    other = owned_trip(olga)
    expense = spend(trip, 1000, paid_by=olga, among=[olga])
    client, url = keyed(olga), f"/api/trips/{trip.pk}/expenses/{expense.pk}/{word}"
    first = client.post(url, {"tripId": other.pk})
    Member.objects.filter(trip=other).update(left_at=timezone.now())
    refused = client.post(url, {"tripId": other.pk})
    assert (refused.status_code, refused.content) == (404, not_found(client))
    end(olga)
    Member.objects.filter(trip=other).update(left_at=None)
    again = client.post(url, {"tripId": other.pk})
    assert (again.status_code, again.content) == (201, first.content)
