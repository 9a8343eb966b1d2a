"""Who may attach files, and delete them: rows of the table of `trips.roles`."""

from trips.roles import Access, Capability, rows

_ANY, _OWN = Access.ANY, Access.OWN


class CanAttach(Capability):
    """A capability that concerns files.

    One's own are those that one attached, and those of documents that others attached for one.
    """

    ATTACH = "attach files"
    DELETE = "delete attached files"


TABLE = rows(
    {
        #                  OWNER  EDITOR VIEWER
        CanAttach.ATTACH: (_ANY,  _ANY,  _OWN),
        CanAttach.DELETE: (_ANY,  _OWN,  _OWN),
    }
)  # fmt: skip
