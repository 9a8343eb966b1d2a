"""Who may plan: rows of the table of `trips.roles`."""

from trips.roles import Access, Capability, rows

_ANY, _OWN, _NONE = Access.ANY, Access.OWN, Access.NONE


class CanPlan(Capability):
    """A capability that concerns activities. One's own activities are those that one added."""

    PLAN = "add, change, tick and order activities, and name days"
    DELETE = "delete activities"


TABLE = rows(
    {
        #                OWNER  EDITOR VIEWER
        CanPlan.PLAN:   (_ANY,  _ANY,  _NONE),
        CanPlan.DELETE: (_ANY,  _OWN,  _NONE),
    }
)  # fmt: skip
