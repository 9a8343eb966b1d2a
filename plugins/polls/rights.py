"""Who may ask and vote: rows of the table of `trips.roles`."""

from trips.roles import TABLE as CORE
from trips.roles import Can, Capability


class CanPoll(Capability):
    """A capability that concerns polls. One's own polls are those that one created."""

    CREATE = "create polls"
    CHANGE = "change, close or delete polls"
    VOTE = "vote in polls"


TABLE = {
    CanPoll.CREATE: CORE[Can.RECORD],
    CanPoll.CHANGE: CORE[Can.CHANGE_EXPENSES],
    CanPoll.VOTE: CORE[Can.READ],
}
