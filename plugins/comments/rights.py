"""Who may comment, and change and delete comments: rows of the table of `trips.roles`."""

from trips.roles import ANY, OWN, Capability, rows


class CanComment(Capability):
    """A capability that concerns comments. One's own are those that one wrote."""

    COMMENT = "comment on expenses"
    CHANGE_COMMENTS = "change comments"
    DELETE_COMMENTS = "delete comments"


TABLE = rows(
    {
        #                           OWNER  EDITOR VIEWER
        CanComment.COMMENT:         (ANY,   ANY,   ANY),
        CanComment.CHANGE_COMMENTS: (OWN,   OWN,   OWN),
        CanComment.DELETE_COMMENTS: (ANY,   OWN,   OWN),
    }
)  # fmt: skip
