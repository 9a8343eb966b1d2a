"""Trips and their members. Every change of members or money locks the trip first."""

from trips.models.joining import CODE_CHARS
from trips.models.journal import JournalEntry
from trips.models.member import (
    Member,
    members_of,
    note_answer,
    require_membership,
    revoked_by_plugins,
    show_addresses_to,
    trips_with_members,
    with_companionship,
)
from trips.models.trip import (
    Trip,
    TripQuerySet,
    chosen_trips,
    lock_trip,
    locked_row,
    locked_trip,
    trip_filters,
    trip_key,
    trips_of,
)
from trips.models.visibility import (
    CompiledForViewer,
    InTripQuerySet,
    ViewerParam,
    get_visible_or_404,
)
