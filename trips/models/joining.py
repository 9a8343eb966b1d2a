"""The code by which users join a trip, and in how many trips they may be."""

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from tripcompanion.api.problems import LimitReached
from trips.models.conflicts import NotRestorable
from users.models import User

#: Capitals and digits, without those that look alike: 0 and O, 1 and I.
CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE_CHARS = 8


def new_code() -> str:
    """A random trip code of 40 bits from a cryptographic source."""
    return "".join(secrets.choice(CODE_ALPHABET) for _position in range(CODE_CHARS))


def require_trip_quota(user: User, more: int = 1) -> None:
    """Raise `LimitReached` if `more` trips are too many for `user` (`QUOTA_TRIPS`).

    Those in which they have not answered do not count. Call it under the lock of the account, so
    that concurrent requests cannot exceed the quota.
    """
    if more > 0:
        present = user.memberships.filter(left_at=None, introduced_by=None)
        LimitReached.require_at_most(settings.QUOTA_TRIPS, present.count() + more)


def require_trip_quotas(members: models.QuerySet[Any]) -> None:
    """Raise `NotRestorable` if one of the members has `QUOTA_TRIPS` trips; guests have none."""
    answered = Q(memberships__left_at=None, memberships__introduced_by=None)
    present = Count("memberships", filter=answered)
    accounts = User.objects.filter(pk__in=members.values("user"), is_guest=False)
    full = accounts.annotate(trips=present).filter(trips__gte=settings.QUOTA_TRIPS).order_by("pk")
    ids = ", ".join(map(str, full.values_list("pk", flat=True)))
    if ids:
        raise NotRestorable(reason=_("These members have too many trips: %(ids)s.") % {"ids": ids})
