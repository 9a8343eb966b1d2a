"""Makes rows the way the service does: through the commands of the models."""

from datetime import date
from functools import cache
from typing import Any

import factory
from django.contrib.auth.hashers import make_password

from splits.models import Division, Expense, SplitType
from trips.models import Member, Trip
from trips.roles import TripRole
from users.emails import email_key
from users.models import User

PASSWORD = "four-green-suitcases"


@cache
def password_hash() -> str:
    """PASSWORD, hashed once: Argon2 is slow on purpose."""
    return make_password(PASSWORD)


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = User

    name = factory.Sequence(lambda n: f"Traveller {n}")
    email = factory.Sequence(lambda n: f"traveller{n}@example.com")
    email_key = factory.LazyAttribute(lambda user: email_key(user.email))
    password = factory.LazyFunction(password_hash)


def overwrite(user: User, **columns: Any) -> None:
    """Write into the account's row what no command would, and into `user`."""
    User.objects.filter(pk=user.pk).update(**columns)
    for name, value in columns.items():
        setattr(user, name, value)


class TripFactory(factory.django.DjangoModelFactory):
    """A trip without members; see `join`."""

    class Meta:
        model = Trip

    title = factory.Sequence(lambda n: f"Trip {n}")
    destination = "Lisbon"
    start_date = date(2026, 5, 14)
    end_date = date(2026, 5, 18)
    currency = "EUR"


def join(trip: Trip, user: User, role: TripRole = TripRole.VIEWER) -> Member:
    """Make `user` a member of `trip`."""
    return Member.objects.create(trip=trip, user=user, role=role)


def spend(
    trip: Trip,
    amount_minor: int,
    *,
    paid_by: User,
    among: list[User],
    put_in: dict[int, int] | None = None,
    entered: dict[int, int] | None = None,
    split_type: SplitType = SplitType.EQUAL,
    **fields: Any,
) -> Expense:
    """An expense of `amount_minor` that `paid_by` records and, without `put_in`, pays alone."""
    participants = tuple(user.pk for user in among)
    return Expense.record(
        trip,
        paid_by,
        put_in=put_in or {paid_by.pk: amount_minor},
        division=Division(split_type, participants, entered),
        **{
            "entered_minor": amount_minor,
            "description": "Dinner",
            "expense_date": date(2026, 5, 14),
            **fields,
        },
    )
