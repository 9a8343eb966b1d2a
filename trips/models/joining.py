"""The code by which users join a trip, and in how many trips they may be."""

import secrets

from django.conf import settings

from tripcompanion.api.problems import LimitReached
from users.models import User

#: Capitals and digits, without those that look alike: 0 and O, 1 and I.
CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE_CHARS = 8


def new_code() -> str:
    """A random trip code of 40 bits from a cryptographic source."""
    return "".join(secrets.choice(CODE_ALPHABET) for _position in range(CODE_CHARS))


def require_trip_quota(user: User) -> None:
    """Raise `LimitReached` if `user` has `QUOTA_TRIPS` trips in which they have answered.

    Call it under the lock of the account, so that concurrent requests cannot exceed the quota.
    """
    if user.memberships.filter(left_at=None, introduced_by=None).count() >= settings.QUOTA_TRIPS:
        raise LimitReached(limit=settings.QUOTA_TRIPS)
