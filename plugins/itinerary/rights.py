"""Who may plan: rows of the table of `trips.roles`."""

from trips.roles import TABLE as CORE
from trips.roles import Can, Capability


class CanPlan(Capability):
    """A capability that concerns activities. One's own activities are those that one added."""

    PLAN = "add, change, tick and order activities, and name days"
    DELETE = "delete activities"


TABLE = {CanPlan.PLAN: CORE[Can.RECORD], CanPlan.DELETE: CORE[Can.CHANGE_EXPENSES]}
