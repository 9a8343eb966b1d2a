"""Who may archive a trip: a row of the table of `trips.roles`."""

from trips.roles import TABLE as CORE
from trips.roles import Can, Capability


class CanArchive(Capability):
    """A capability that concerns the list of one's own trips."""

    ARCHIVE = "archive the trip in their own list"


TABLE = {CanArchive.ARCHIVE: CORE[Can.READ]}
