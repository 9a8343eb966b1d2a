"""Who may plan: rows of the table of `trips.roles`."""

from trips.roles import ANY, NONE, OWN, Capability, rows


class CanPlan(Capability):
    """A capability that concerns activities. One's own activities are those that one added."""

    PLAN = "add, change, tick and order activities, and name days"
    DELETE = "delete activities"


TABLE = rows(
    {
        #                OWNER  EDITOR VIEWER
        CanPlan.PLAN:   (ANY,   ANY,   NONE),
        CanPlan.DELETE: (ANY,   OWN,   NONE),
    }
)  # fmt: skip
