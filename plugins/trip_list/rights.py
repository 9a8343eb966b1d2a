"""Who may archive a trip: a row of the table of `trips.roles`."""

from trips.roles import ANY, Capability, rows


class CanArchive(Capability):
    """A capability that concerns the list of one's own trips."""

    ARCHIVE = "archive the trip in their own list"


TABLE = rows(
    {
        #                    OWNER  EDITOR VIEWER
        CanArchive.ARCHIVE: (ANY,   ANY,   ANY),
    }
)  # fmt: skip
