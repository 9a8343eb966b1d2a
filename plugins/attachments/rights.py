"""Who may attach files, and delete them: rows of the table of `trips.roles`."""

from trips.roles import ANY, OWN, Capability, rows


class CanAttach(Capability):
    """A capability that concerns files.

    One's own are those that one attached, and those of documents that others attached for one.
    """

    ATTACH = "attach files"
    DELETE = "delete attached files"


TABLE = rows(
    {
        #                  OWNER  EDITOR VIEWER
        CanAttach.ATTACH: (ANY,   ANY,   OWN),
        CanAttach.DELETE: (ANY,   OWN,   OWN),
    }
)  # fmt: skip
