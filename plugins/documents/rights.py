"""Who may ask for documents and bring them: rows of the table of `trips.roles`."""

from trips.roles import ANY, NONE, OWN, Capability, rows


class CanDocument(Capability):
    """A capability that concerns documents. One's own documents are those that one asked for."""

    CREATE = "ask for documents"
    CHANGE = "change or delete documents"
    ATTACH = "attach one's own file to a document"
    ATTACH_FOR = "attach a file of somebody else to a document"


TABLE = rows(
    {
        #                        OWNER  EDITOR VIEWER
        CanDocument.CREATE:     (ANY,   ANY,   NONE),
        CanDocument.CHANGE:     (ANY,   OWN,   NONE),
        CanDocument.ATTACH:     (ANY,   ANY,   ANY),
        CanDocument.ATTACH_FOR: (ANY,   ANY,   NONE),
    }
)  # fmt: skip
