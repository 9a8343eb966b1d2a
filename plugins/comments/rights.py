"""Who may comment, and change and delete comments: rows of the table of `trips.roles`."""

from trips.roles import OWN, Can, Capability, TripRole
from trips.roles import TABLE as CORE


class CanComment(Capability):
    """A capability that concerns comments. One's own are those that one wrote."""

    COMMENT = "comment on expenses"
    CHANGE_COMMENTS = "change comments"
    DELETE_COMMENTS = "delete comments"


TABLE = {
    CanComment.COMMENT: CORE[Can.READ],
    CanComment.CHANGE_COMMENTS: dict.fromkeys(TripRole, OWN),
    CanComment.DELETE_COMMENTS: CORE[Can.SETTLE],
}
