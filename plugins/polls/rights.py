"""Who may ask and vote: rows of the table of `trips.roles`."""

from trips.roles import ANY, NONE, OWN, Capability, rows


class CanPoll(Capability):
    """A capability that concerns polls. One's own polls are those that one created."""

    CREATE = "create polls"
    CHANGE = "change, close or delete polls"
    VOTE = "vote in polls"


TABLE = rows(
    {
        #                OWNER  EDITOR VIEWER
        CanPoll.CREATE: (ANY,   ANY,   NONE),
        CanPoll.CHANGE: (ANY,   OWN,   NONE),
        CanPoll.VOTE:   (ANY,   ANY,   ANY),
    }
)  # fmt: skip
