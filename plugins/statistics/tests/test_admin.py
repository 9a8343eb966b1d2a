"""What the page of a trip in the admin site shows of its spending."""

import pytest

from tests.admin_client import AdminClient
from tests.factories import spend
from trips.models import Trip

pytestmark = pytest.mark.either


def test_spending_is_drawn_beside_its_numbers(ada, trip, olga, ed):
    Trip.objects.filter(pk=trip.pk).update(budget_minor=9000)
    spend(trip, 3000, paid_by=olga, among=[olga, ed])
    site = AdminClient(ada)
    assert "30.00\xa0EUR" in site.pictures(trip)["spending"]
    assert site.page(trip).content.decode().count("30.00\xa0EUR") >= 2, "spent, and so far"
