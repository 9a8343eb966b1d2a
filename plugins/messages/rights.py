"""Who may write messages, change and delete them: rows of the table of `trips.roles`."""

from trips.roles import ANY, OWN, Capability, rows


class CanMessage(Capability):
    """A capability that concerns messages. One's own are those that one wrote."""

    WRITE = "write messages"
    MARK = "say which messages they have read"
    CHANGE = "change messages"
    DELETE = "delete messages"


TABLE = rows(
    {
        #                  OWNER  EDITOR VIEWER
        CanMessage.WRITE:  (ANY,   ANY,   ANY),
        CanMessage.MARK:   (ANY,   ANY,   ANY),
        CanMessage.CHANGE: (OWN,   OWN,   OWN),
        CanMessage.DELETE: (ANY,   OWN,   OWN),
    }
)  # fmt: skip
