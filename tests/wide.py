"""An account with many trips of many people each, written by a few statements."""

from typing import NamedTuple

from django.db import connection, models

from splits.models import Debt, Expense
from tests.bulk import insert_many
from tests.factories import TripFactory, UserFactory, join, spend
from trips.models import JournalEntry, Trip
from trips.roles import TripRole
from users.models import User


class Wide(NamedTuple):
    """`owner` is in each of the trips, and so is `friend`, who owes something in each."""

    owner: User
    friend: User
    trip: Trip
    expense: Expense

    @property
    def ids(self) -> dict[str, object]:
        """What stands for the placeholders of routes."""
        return {
            "trip_id": self.trip.pk,
            "group_id": self.trip.pk,
            "user_id": self.friend.pk,
            "email": self.friend.email,
            "code": self.trip.code,
            "expense_id": self.expense.pk,
            "split_id": self.expense.splits.get(participant=self.friend).pk,
        }


def wide_account(trips: int, people: int) -> Wide:
    """An OWNER of `trips` trips of `people`: the same friend, and other guests in each."""
    owner, friend, guest = UserFactory(), UserFactory(), User.create_guest("Guest")
    trip, more = TripFactory(), trips - 1
    join(trip, owner, TripRole.OWNER)
    join(trip, friend, TripRole.EDITOR)
    membership = join(trip, guest, TripRole.EDITOR)
    expense = spend(trip, 200, paid_by=owner, among=[owner, friend])
    last_trip = copies(trip, more, code=f"'{trip.pk}-' || n", title="'Trip ' || n")
    a_trip = f"{last_trip} + n"
    guests, place = trips * (people - 2) - 1, f"n / {people - 2}"
    of_guest = f"CASE WHEN {place} = 0 THEN {trip.pk} ELSE {last_trip} + {place} END"
    user_id = f"{copies(guest, guests)} + n"
    copies(membership, guests, trip_id=of_guest, user_id=user_id)
    for user in (owner, friend):
        copies(trip.members.get(user=user), more, trip_id=a_trip)
    copies(JournalEntry.objects.filter(trip=trip).latest("number"), more, trip_id=a_trip)
    in_trip = {"trip_id": a_trip}
    in_expense = {"expense_id": f"{copies(expense, more, **in_trip)} + n", **in_trip}
    copies(expense.payers.get(), more, **in_expense)
    split = expense.splits.get(participant=friend)
    split_id = f"{copies(split, more, **in_expense)} + n"
    copies(Debt.objects.get(split=split), more, **in_trip, split_id=split_id)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return Wide(owner, friend, trip, expense)


def copies(row: models.Model, count: int, **columns: str) -> int:
    """Insert so many copies of a row, numbered by `n` from 1, with these columns.

    Returns the id before theirs.
    """
    model = type(row)
    names = [field.column for field in model._meta.concrete_fields if not field.primary_key]
    listed = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(columns.get(name, f'"{name}"') for name in names)
    last = model._base_manager.latest("pk").pk
    insert_many(
        f"INSERT INTO {model._meta.db_table} ({listed}) "  # noqa: S608 -- no user's text
        f"SELECT {values} FROM numbers, {model._meta.db_table} WHERE id = %s ORDER BY n",
        count, row.pk,
    )  # fmt: skip
    return int(last)
