"""Rows T13, T14 and T16: what belongs to others is in no list, and no id or method tells of it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import TripFactory
from trips.models import Trip

pytestmark = pytest.mark.either

#: How many ids are tried.
IDS = 60


def test_t13_every_list_holds_exactly_what_one_may_see(environment):
    """T13: Every list contains exactly what the caller may see."""

    def ids(user, path):
        answer = environment.ask(user, "GET", path).json()
        return {row["id"] for row in (answer["items"] if isinstance(answer, dict) else answer)}

    given = environment.settlement().pk
    mine = {
        "olga": {environment.trip.pk, environment.sams.pk},
        "sam": {environment.sams.pk},
        "ada": set(),
    }
    for name, user in environment.cast.items():
        for path in ("/api/trips", "/api/trips/my-trips"):
            assert ids(user, path) == mine.get(name, {environment.trip.pk}), name
    for user in (environment.olga, environment.ed, environment.vera, environment.ada):
        assert ids(user, f"{environment.url}/expenses") == {
            environment.dinner.pk,
            environment.boat.pk,
        }
        assert ids(user, f"{environment.url}/settlements") == {given}
        assert ids(user, environment.splits_url) == {
            split.pk for split in environment.dinner.splits.all()
        }
    assert ids(environment.sam, f"/api/trips/{environment.sams.pk}/expenses") == {
        environment.hotel.pk
    }
    owed = environment.hotel.splits.get(participant=environment.olga).pk
    assert ids(environment.olga, f"/api/users/{environment.olga.pk}/pending-debts") == {owed}


def test_t14_counting_through_ids_tells_nothing(environment):
    """T14: Enumerating ids reveals nothing."""
    others = TripFactory.create_batch(5)
    ids = [trip.pk for trip in others] + [environment.trip.pk + at for at in range(IDS)]
    answers, costs = set(), set()
    for pk in (pk for pk in ids if pk != environment.sams.pk):
        with CaptureQueriesContext(connection) as queries:
            answer = environment.ask(environment.sam, "GET", f"/api/trips/{pk}")
        answers.add((answer.status_code, answer.content))
        costs.add(len(queries))
    assert len(answers) == 1
    # The time of an answer is that of its queries: one more would be an oracle.
    assert len(costs) == 1
    assert Trip.objects.filter(pk__in=ids).count() >= 6


def test_t16_head_and_options_show_no_more_than_get(environment):
    """T16: HEAD and OPTIONS reveal no more than GET."""
    for url in environment.reads():
        head = environment.ask(environment.sam, "HEAD", url)
        assert (head.status_code, head.content) == (404, b"")
        assert environment.ask(environment.vera, "HEAD", url).status_code == 200
        for user in (environment.sam, environment.vera):
            options = environment.ask(user, "OPTIONS", url)
            assert options.status_code == 405
            assert b"actions" not in options.content
