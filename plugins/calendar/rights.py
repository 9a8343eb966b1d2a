"""Who may have a link: a row of the table of `trips.roles`."""

from trips.roles import Access, Capability, Table, TripRole


class CanSubscribe(Capability):
    """A capability that concerns calendars."""

    LINK = "have a link to the calendar of the trip"


TABLE: Table = {CanSubscribe.LINK: dict.fromkeys(TripRole, Access.ANY)}
