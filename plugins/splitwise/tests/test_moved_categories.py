"""A move to another trip keeps the category that a program gave."""

from plugins.splitwise.models import GivenCategory
from tests.factories import TripFactory, join, spend
from trips.roles import TripRole


def test_a_moved_expense_keeps_its_category(api, trip, olga):
    other = TripFactory()
    join(other, olga, TripRole.OWNER)
    expense = spend(trip, 1000, paid_by=olga, among=[olga])
    GivenCategory.objects.create(trip=trip, expense_id=expense.pk, category_id=13)
    moved = api(olga).post(f"/api/trips/{trip.pk}/expenses/{expense.pk}/move", {"tripId": other.pk})
    assert moved.status_code == 201, moved.content
    assert GivenCategory.objects.get(trip=other, expense_id=moved.json()["id"]).category_id == 13
