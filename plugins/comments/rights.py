"""Who may comment, and change and delete comments: rows of the table of `trips.roles`."""

from trips.roles import Access, Capability, rows

_ANY, _OWN = Access.ANY, Access.OWN


class CanComment(Capability):
    """A capability that concerns comments. One's own are those that one wrote."""

    COMMENT = "comment on expenses"
    CHANGE_COMMENTS = "change comments"
    DELETE_COMMENTS = "delete comments"


TABLE = rows(
    {
        #                           OWNER  EDITOR VIEWER
        CanComment.COMMENT:         (_ANY,  _ANY,  _ANY),
        CanComment.CHANGE_COMMENTS: (_OWN,  _OWN,  _OWN),
        CanComment.DELETE_COMMENTS: (_ANY,  _OWN,  _OWN),
    }
)  # fmt: skip
