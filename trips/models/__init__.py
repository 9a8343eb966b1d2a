"""Trips and their members. Everything that changes members or money locks the trip first."""

from trips.models.member import (
    Member,
    close_account,
    members_of,
    trips_with_members,
    with_companionship,
)
from trips.models.trip import (
    CODE_CHARS,
    JOIN_ROLE_CHOICES,
    ROLE_CHOICES,
    InTripQuerySet,
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
    "InTripQuerySet",
    "Member",
    "Trip",
    "TripQuerySet",
    "Viewer",
    "close_account",
    "members_of",
    "trips_of",
    "trips_with_members",
    "visible_row",
    "with_companionship",
]
