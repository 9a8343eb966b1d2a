"""Who may attach files, and delete them: rows of the table of `trips.roles`."""

from trips.roles import NONE, OWN, Can, Capability
from trips.roles import TABLE as CORE


class CanAttach(Capability):
    """A capability that concerns files.

    One's own are those that one attached, and those of documents that others attached for one.
    """

    ATTACH = "attach files"
    DELETE = "delete attached files"


RECORD = CORE[Can.RECORD]
TABLE = {
    CanAttach.ATTACH: {role: OWN if RECORD[role] is NONE else RECORD[role] for role in RECORD},
    CanAttach.DELETE: CORE[Can.SETTLE],
}
