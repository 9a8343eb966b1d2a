"""Who may write messages, change and delete them: rows of the table of `trips.roles`."""

from trips.roles import Access, Capability, rows

_ANY, _OWN = Access.ANY, Access.OWN


class CanMessage(Capability):
    """A capability that concerns messages. One's own are those that one wrote."""

    WRITE = "write messages"
    MARK = "say which messages they have read"
    CHANGE = "change messages"
    DELETE = "delete messages"


TABLE = rows(
    {
        #                  OWNER  EDITOR VIEWER
        CanMessage.WRITE:  (_ANY,  _ANY,  _ANY),
        CanMessage.MARK:   (_ANY,  _ANY,  _ANY),
        CanMessage.CHANGE: (_OWN,  _OWN,  _OWN),
        CanMessage.DELETE: (_ANY,  _OWN,  _OWN),
    }
)  # fmt: skip
