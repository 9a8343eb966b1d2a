"""Trips and their members. Every command that changes members or money locks the trip first."""

from trips.models.closing import AccountInUse, close_account
from trips.models.lock import lock_trip, locked_row, locked_trip
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
    Trip,
    TripQuerySet,
    trips_of,
)
from trips.models.visibility import InTripQuerySet, PreparedFor, Viewer, visible_row

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
    "lock_trip",
    "locked_row",
    "locked_trip",
    "members_of",
    "require_membership",
    "trips_of",
    "trips_with_members",
    "visible_row",
    "with_companionship",
]
