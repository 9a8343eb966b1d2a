"""Who may ask and vote: rows of the table of `trips.roles`."""

from trips.roles import Access, Capability, rows

_ANY, _OWN, _NONE = Access.ANY, Access.OWN, Access.NONE


class CanPoll(Capability):
    """A capability that concerns polls. One's own polls are those that one created."""

    CREATE = "create polls"
    CHANGE = "change, close or delete polls"
    VOTE = "vote in polls"


TABLE = rows(
    {
        #                OWNER  EDITOR VIEWER
        CanPoll.CREATE: (_ANY,  _ANY,  _NONE),
        CanPoll.CHANGE: (_ANY,  _OWN,  _NONE),
        CanPoll.VOTE:   (_ANY,  _ANY,  _ANY),
    }
)  # fmt: skip
