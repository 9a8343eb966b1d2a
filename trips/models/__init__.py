"""Trips and their members. Everything that changes members or money locks the trip first."""

from trips.models.closing import AccountInUse, close_account
from trips.models.member import (
    Member,
    members_of,
    require_membership,
    trips_with_members,
    with_companionship,
)
from trips.models.trip import (
    CODE_CHARS,
    JOIN_ROLE_CHOICES,
    ROLE_CHOICES,
    InTripQuerySet,
    PreparedFor,
    Trip,
    TripQuerySet,
    Viewer,
    trips_of,
    visible_row,
)

__all__ = [
    "CODE_CHARS",
    "JOIN_ROLE_CHOICES",
    "ROLE_CHOICES",
    "AccountInUse",
    "InTripQuerySet",
    "Member",
    "PreparedFor",
    "Trip",
    "TripQuerySet",
    "Viewer",
    "close_account",
    "members_of",
    "require_membership",
    "trips_of",
    "trips_with_members",
    "visible_row",
    "with_companionship",
]
