"""Who may archive a trip: a row of the table of `trips.roles`."""

from trips.roles import Access, Capability, rows

_ANY = Access.ANY


class CanArchive(Capability):
    """A capability that concerns the list of one's own trips."""

    ARCHIVE = "archive the trip in their own list"


TABLE = rows(
    {
        #                    OWNER  EDITOR VIEWER
        CanArchive.ARCHIVE: (_ANY,  _ANY,  _ANY),
    }
)  # fmt: skip
