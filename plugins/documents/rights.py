"""Who may ask for documents and bring them: rows of the table of `trips.roles`."""

from trips.roles import Access, Capability, rows

_ANY, _OWN, _NONE = Access.ANY, Access.OWN, Access.NONE


class CanDocument(Capability):
    """A capability that concerns documents. One's own documents are those that one asked for."""

    CREATE = "ask for documents"
    CHANGE = "change or delete documents"
    ATTACH = "attach one's own file to a document"
    ATTACH_FOR = "attach a file of somebody else to a document"


TABLE = rows(
    {
        #                        OWNER  EDITOR VIEWER
        CanDocument.CREATE:     (_ANY,  _ANY,  _NONE),
        CanDocument.CHANGE:     (_ANY,  _OWN,  _NONE),
        CanDocument.ATTACH:     (_ANY,  _ANY,  _ANY),
        CanDocument.ATTACH_FOR: (_ANY,  _ANY,  _NONE),
    }
)  # fmt: skip
