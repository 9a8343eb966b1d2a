"""Changes cost the same in a trip with 100,000 rows in its journal, and in two hundred trips."""

from typing import Any

import pytest

from plugins.comments.models import Comment
from plugins.sync.cursor import Cursor
from tests import citus
from tests.factories import TripFactory, UserFactory, add_guest, join, owned_trip, settle, spend
from tests.long_journal import ROWS, long_journal
from tests.test_plans import noted, scanning
from tests.test_query_counts import queries_of
from trips.roles import TripRole

__all__ = ["long_journal"]


def since(user, **positions):
    """The URL of the changes after these numbers, by trip."""
    cursor = Cursor.of(user)
    cursor.positions = {int(trip): number for trip, number in positions.items()}
    return f"/api/changes?since={cursor.text()}"


@citus.hides_plans
def test_no_page_of_changes_reads_a_long_journal_from_end_to_end(api, long_journal):
    trip, owner = long_journal
    guest = add_guest(trip)
    spend(trip, 1000, paid_by=owner, among=[guest])
    settle(trip, guest, owner, 500, by=owner).remove(by=owner)
    last = trip.journal.latest("number").number
    client, key = api(owner), str(trip.pk)
    urls = {
        "start": "/api/changes",
        "nothing": since(owner, **{key: last}),
        "newest": since(owner, **{key: last - 3}),
        "oldest": since(owner, **{key: 0}),
        "middle": since(owner, **{key: ROWS // 2}),
        "whole": since(owner),
    }
    requests: dict[str, Any] = {name: lambda to=url: client.get(to) for name, url in urls.items()}
    statements, answers = noted(requests)
    assert not {
        where for where, tables in scanning(statements).items() if "trips_journalentry" in tables
    }
    assert {name for name, answer in answers.items() if answer.json()["more"]} == {
        "oldest", "middle",
    }  # fmt: skip
    kinds = [change["object"]["type"] for change in answers["newest"].json()["items"]]
    assert kinds == ["expense", "settlement"]


@pytest.fixture(params=[10, 200])
def size(request):
    return request.param


def test_a_page_costs_the_same_with_10_and_with_200_trips(api, olga, ed, size):
    """T174: A page of changes takes a constant number of statements and rows.

    Every kind of row is in it, from trips that were changed, lost and gained.
    """
    trips = [TripFactory() for _trip in range(size)]
    for trip in trips:
        join(trip, olga, TripRole.OWNER)
        join(trip, ed, TripRole.OWNER)
    client = api(olga)
    cursor = client.get("/api/changes").json()["cursor"]
    for trip in trips[:5]:
        expense = spend(trip, 1000, paid_by=olga, among=[ed])
        Comment.write(expense, ed, "Tasty.")
        settle(trip, ed, olga, 500).remove(by=olga)
        trip.members.get(user=ed).change_role(TripRole.VIEWER, by=olga)
        expense.remove(by=olga)
    for trip in trips[5:]:
        trip.change(by=olga, title="Porto")
    trips[5].remove(by=olga)
    queries, response = queries_of(lambda: client.get(f"/api/changes?since={cursor}&limit=100"))
    kinds = {change["object"]["type"] for change in response.json()["items"]}
    assert kinds == {"comment", "expense", "member", "settlement", "trip"}
    assert queries == 13


def test_a_new_trip_costs_the_same_with_10_and_with_200_of_everything(api, olga, size):
    client = api(olga)
    cursor = client.get("/api/changes").json()["cursor"]
    trip = owned_trip(olga)
    for _user in range(size):
        expense = spend(trip, 1000, paid_by=olga, among=[olga])
        user = UserFactory()
        join(trip, user)
        settle(trip, user, olga, 5, by=olga)
    Comment.objects.bulk_create(
        Comment(trip=trip, expense=expense, created_by=olga, text="Tasty.")
        for _comment in range(size)
    )
    counted, more = [], True
    while more:
        url = f"/api/changes?since={cursor}&limit=100"
        queries, response = queries_of(lambda to=url: client.get(to))
        counted.append(queries)
        cursor, more = response.json()["cursor"], response.json()["more"]
    assert max(counted) <= 18
