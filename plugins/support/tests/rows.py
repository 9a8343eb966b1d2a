"""Rows for every list of the admin site."""

from django.utils import timezone

from splits.models import AuditRun, DailyRate, Expense, Rate
from splits.models.settlement import today
from tests.factories import UserFactory, join, owned_trip, settle, spend
from tests.walked import answers
from trips.models import Trip
from users.models import Mail, ScopedToken, Session, User


def one_of_each(trip: Trip, olga: User, ed: User, vera: User) -> Expense:
    """One more row of every kind; most belong to Olga or to `trip`."""
    number = trip.expenses.count()
    user = UserFactory()
    join(trip, user)
    owned_trip(olga)
    Session.start(olga)
    Mail.objects.ask_to_verify(user)
    ScopedToken.issue(user, name="Import", scopes=["trips:read"], trip_id=trip.pk)
    expense = spend(trip, 1000 + number, paid_by=olga, among=[olga, ed, vera])
    settle(trip, ed, olga, 200)
    settle(trip, ed, olga, 100).remove(by=olga)
    AuditRun.record(timezone.now(), number, ["a difference"] * number)
    for one_of_each_list in answers("one_of_each"):
        one_of_each_list(trip, olga, user, expense)
    for model in (Rate, DailyRate):
        model.objects.get_or_create(currency="USD", per_euro="1.1", day=today())
    return expense
