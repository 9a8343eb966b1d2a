"""Who may ask for documents and bring them: rows of the table of `trips.roles`."""

from trips.roles import TABLE as CORE
from trips.roles import Can, Capability


class CanDocument(Capability):
    """A capability that concerns documents. One's own documents are those that one asked for."""

    CREATE = "ask for documents"
    CHANGE = "change or delete documents"
    ATTACH = "attach one's own file to a document"
    ATTACH_FOR = "attach a file of somebody else to a document"


TABLE = {
    CanDocument.CREATE: CORE[Can.RECORD],
    CanDocument.CHANGE: CORE[Can.CHANGE_EXPENSES],
    CanDocument.ATTACH: CORE[Can.READ],
    CanDocument.ATTACH_FOR: CORE[Can.RECORD],
}
