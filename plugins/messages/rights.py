"""Who may write messages, change and delete them: rows of the table of `trips.roles`."""

from trips.roles import OWN, Can, Capability, TripRole
from trips.roles import TABLE as CORE


class CanMessage(Capability):
    """A capability that concerns messages. One's own are those that one wrote."""

    WRITE = "write messages"
    MARK = "say which messages they have read"
    CHANGE = "change messages"
    DELETE = "delete messages"


TABLE = {
    CanMessage.WRITE: CORE[Can.READ],
    CanMessage.MARK: CORE[Can.READ],
    CanMessage.CHANGE: dict.fromkeys(TripRole, OWN),
    CanMessage.DELETE: CORE[Can.SETTLE],
}
