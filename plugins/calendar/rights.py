"""Who may have a link: a row of the table of `trips.roles`."""

from trips.roles import ANY, Capability, rows


class CanSubscribe(Capability):
    """A capability that concerns calendars."""

    LINK = "have a link to the calendar of the trip"


TABLE = rows(
    {
        #                   OWNER  EDITOR VIEWER
        CanSubscribe.LINK: (ANY,   ANY,   ANY),
    }
)  # fmt: skip
