"""A request of Splitwise's programs counts as what it costs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plugins.splitwise.tests.conftest import Caller
from tests.test_costs import inserted
from trips.models import Trip

pytestmark = pytest.mark.either


def test_the_rows_of_a_form_count_as_those_of_json(trip, olga, limits):
    limits(user="10/min")
    friends = {f"friends__{at}__user_first_name": f"Friend {at}" for at in range(6)}
    caller = Caller(olga)
    assert len(caller.done("create_friends", form=True, **friends)["users"]) == 6
    assert "errors" in caller.post("create_friends", 429, **friends)


def test_friends_beyond_the_quota_are_refused_before_the_first_write(olga, settings):
    settings.QUOTA_TRIPS = 3
    caller = Caller(olga)
    two = {f"friends__{at}__user_email": f"{at}@example.com" for at in range(2)}
    assert len(caller.done("create_friends", **two)["users"]) == 2
    three = {f"friends__{at}__user_email": f"{at}@example.com" for at in range(4)}
    with CaptureQueriesContext(connection) as captured:
        assert "3" in str(caller.refused("create_friends", **three))
    assert inserted(captured) == []
    # Those who are known need no trip.
    known = {f"friends__{at}__user_email": f"{at}@example.com" for at in range(3)}
    assert len(caller.done("create_friends", **known)["users"]) == 3
    assert Trip.objects.count() == 3


def test_a_group_beyond_the_quota_is_refused_before_the_first_write(olga, settings):
    settings.QUOTA_MEMBERS = 3
    caller = Caller(olga)
    names = {f"users__{at}__first_name": f"Friend {at}" for at in range(3)}
    with CaptureQueriesContext(connection) as captured:
        assert caller.refused("create_group", name="Flat", **names)
    assert inserted(captured) == []
    body = {**names, "users__0__first_name": None, "users__0__user_id": olga.pk}
    assert len(caller.done("create_group", name="Flat", **body)["group"]["members"]) == 3


def test_notifications_have_the_limit_of_exports(olga, limits):
    limits(export="2/hour")
    client = Caller(olga).http
    statuses = [client.get("/api/v3.0/get_notifications").status_code for _time in range(3)]
    assert statuses == [200, 200, 429]
