"""Who may have a link: a row of the table of `trips.roles`."""

from trips.roles import TABLE as CORE
from trips.roles import Can, Capability


class CanSubscribe(Capability):
    """A capability that concerns calendars."""

    LINK = "have a link to the calendar of the trip"


TABLE = {CanSubscribe.LINK: CORE[Can.READ]}
