"""Creates rows as the service does: through the commands of the models."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

import factory
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.utils import timezone

from splits.models import Division, Expense, Settlement, SplitType
from tests.passwords import PASSWORD
from tripcompanion.currency.amounts import Amount, to_major
from trips.models import Member, Trip
from trips.roles import TripRole
from users.emails import email_key
from users.models import User


@cache
def password_hash() -> str:
    """The hash of PASSWORD, computed once because Argon2 is slow on purpose."""
    return make_password(PASSWORD)


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = User

    name = factory.Sequence(lambda n: f"Traveller {n}")
    email = factory.Sequence(lambda n: f"traveller{n}@example.com")
    email_key = factory.LazyAttribute(lambda user: email_key(user.email))
    password = factory.LazyFunction(password_hash)


def overwrite(user: User, **columns: Any) -> None:
    """Set columns of the account's row, and of `user`, that no command would set."""
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
    """Add `user` to `trip`."""
    return Member.objects.create(trip=trip, user=user, role=role)


def owned_trip(owner: User, **fields: Any) -> Trip:
    """A trip of `owner` alone."""
    trip = TripFactory(**fields)
    join(trip, owner, TripRole.OWNER)
    return trip


def purge(trip: Trip) -> None:
    """Delete a deleted trip for good, as `prune` does when its days are over."""
    long_ago = timezone.now() - timedelta(days=settings.DELETED_TRIP_DAYS)
    Trip.objects.filter(pk=trip.pk, deleted_at__isnull=False).update(deleted_at=long_ago)
    assert Trip.objects.outdated().purge() == 1


def add_guest(trip: Trip, name: str = "Grandma") -> User:
    """Add somebody without an account to `trip`."""
    return join(trip, User.create_guest(name)).user


def spend(
    trip: Trip,
    amount_minor: int,
    *,
    paid_by: User,
    among: list[User],
    paid_by_user: dict[int, int] | None = None,
    entered: dict[int, int] | None = None,
    split_type: SplitType = SplitType.EQUAL,
    **fields: Any,
) -> Expense:
    """Record an expense as `paid_by`, who is the only payer unless `paid_by_user` is given."""
    participants = tuple(user.pk for user in among)
    with acting_as_owner(trip, paid_by):
        return Expense.record(
            trip,
            paid_by,
            paid_by_user=paid_by_user or {paid_by.pk: amount_minor},
            division=Division(split_type, participants, entered),
            **{
                "entered_minor": amount_minor,
                "description": "Dinner",
                "expense_date": date(2026, 5, 14),
                **fields,
            },
        )


def settle(
    trip: Trip,
    sender: User,
    receiver: User,
    amount: int | Amount,
    exchange_rate: Decimal | None = None,
    by: User | None = None,
    **fields: Any,
) -> Settlement:
    """Record a settlement as `by`, by default the sender.

    A plain `amount` is in minor units of the trip's currency.
    """
    draft = Settlement(trip=trip, sender=sender, receiver=receiver, **fields)
    draft.created_by = by or sender
    with acting_as_owner(trip, draft.created_by):
        if isinstance(amount, int):
            amount = Amount(to_major(amount, trip.currency), trip.currency)
        draft.record(amount, exchange_rate)
    return draft


@contextmanager
def acting_as_owner(trip: Trip, user: User) -> Iterator[None]:
    """Give `user` the OWNER role inside the block, so that a viewer can record something."""
    role = trip.members.get(user=user).role
    trip.members.filter(user=user).update(role=TripRole.OWNER)
    try:
        yield
    finally:
        trip.members.filter(user=user).update(role=role)
