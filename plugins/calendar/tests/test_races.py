"""Links that are made in the instant in which something ends them, on the real server."""

from functools import partial

import pytest

from tests.locks import while_locked
from tests.splits.journey import Journey, answers_at_once, sign_up


@pytest.fixture
def trip(http, traveller):
    """Somebody else's trip, which the traveller is in."""
    trip = Journey.start(sign_up(http))
    trip.admit(traveller)
    return trip


def opened(http, made):
    """Whether a link that was made opens the calendar."""
    return http.get(f"/api/{made.json()['url'].partition('/api/')[2]}").is_success


def test_of_links_that_are_made_at_once_one_remains(http, traveller, trip):
    for path in (f"{trip.path}/calendar-link", "/users/me/calendar-link"):
        made = answers_at_once([partial(traveller.call, "POST", path)] * 8)
        assert {answer.status_code for answer in made} == {201}
        assert sum(opened(http, answer) for answer in made) == 1


@pytest.mark.parametrize("end", ["/members/leave", "/users/me/logout-everywhere"])
def test_no_link_is_left_of_what_ends_while_it_waits_for_the_trip(
    server, http, traveller, trip, end
):
    make = partial(traveller.call, "POST", f"{trip.path}/calendar-link")
    path = end if end.startswith("/users") else f"{trip.path}{end}"
    calls = [make, partial(traveller.call, "POST", path)]
    made, ended = while_locked(server, "trips_trip", trip.id, calls)
    assert ended.is_success
    assert made.status_code in {201, 401, 404}
    assert made.status_code != 201 or not opened(http, made)
