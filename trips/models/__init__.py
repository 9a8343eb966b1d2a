"""Trips and their members. Everything that changes members or money locks the trip first."""

from trips.models.closing import AccountInUse, close_account
from trips.models.member import Member, require_membership, with_companionship
from trips.models.trip import (
    CODE_CHARS,
    JOIN_ROLE_CHOICES,
    ROLE_CHOICES,
    InTripQuerySet,
    Trip,
    TripQuerySet,
)

__all__ = [
    "CODE_CHARS",
    "JOIN_ROLE_CHOICES",
    "ROLE_CHOICES",
    "AccountInUse",
    "InTripQuerySet",
    "Member",
    "Trip",
    "TripQuerySet",
    "close_account",
    "require_membership",
    "with_companionship",
]
