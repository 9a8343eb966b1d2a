"""Trips by their code, with which anybody joins."""

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from rest_framework.exceptions import NotFound

from plugins.invitations.conflicts import EmailUnverified
from trips.models import Member, Trip, lock_trip
from trips.roles import OWNER_ROLES
from users.models import User


def with_code(code: str, user: User) -> QuerySet[Trip]:
    """The trip with this code, ignoring case, or no trip; `user` may have a token of one trip.

    The code is invalid while none of the trip's owners can log in.
    """
    trips = Trip.objects.in_token_scope(user)
    if not (code.isascii() and code.isalnum()):
        return trips.none()
    owned = Trip.objects.filter(
        members__role__in=OWNER_ROLES, members__left_at=None, members__user__is_active=True
    )
    return trips.filter(Exists(owned.filter(pk=OuterRef("pk"))), code=code.upper())


def join(trip: Trip, user: User, code: str) -> Member:
    """Add `user`, who knows the code, with the trip's `join_role`.

    Raises `NotFound` if the code has changed, `EmailUnverified`, and what `Member.admit` raises.
    """
    with transaction.atomic():
        account = User.objects.active().locked(user.pk)
        EmailUnverified.require(account)
        locked = lock_trip(trip.pk)
        if locked.code != code.upper():
            raise NotFound
        return Member.admit(locked, account, locked.join_role, user)
