"""Calendars, and the links to them."""

from io import BytesIO

from django.http import HttpResponseBase, HttpResponseNotModified
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.calendar.models import CalendarLink
from plugins.calendar.rights import CanSubscribe
from plugins.calendar.serializers import CalendarLinkSerializer, NewCalendarLinkSerializer
from tripcompanion.api.etags import etag_of, is_known
from tripcompanion.api.operations import operation
from tripcompanion.api.viewsets import OpenViewSet
from trips.models import Trip
from trips.roles import Can
from trips.viewsets import InTripViewSet


class OwnCalendarLinkViewSet(InTripViewSet):
    """The caller's link to the calendar of all of their trips; closed to scoped tokens.

    A token may be confined to a trip, and lack the scopes for what calendars show.
    """

    tag = "calendars"
    # A stored response would contain the secret; a repeat makes another link, which works.
    safe_retries = False
    response_serializer = CalendarLinkSerializer

    @operation("renewMyCalendarLink", needs=None, answers=NewCalendarLinkSerializer, uncounted=True)
    def create(self, request: Request) -> Response:
        """Make the address of the calendar of the caller's trips; the former one ends.

        Calendar programs subscribe to it. It shows the trips that the caller is a member of;
        one to which somebody added them, once they have read or written in it. Whoever has it can
        read the calendar, and nothing else, until `endMyCalendarLink`, or until all sessions of the
        caller end, as by a new password.
        """
        return self._renew(None)

    @operation("getMyCalendarLink", needs=None)
    def retrieve(self, request: Request) -> Response:
        """When the address was made and last read; null without one."""
        return self.answer(CalendarLink.of(self.caller, None))

    @operation("endMyCalendarLink", needs=None, uncounted=True, problems=[NotFound])
    def destroy(self, request: Request) -> Response:
        """End the address; 404 without one."""
        return self._end(None)

    def _renew(self, trip: Trip | None) -> Response:
        return self.answer(CalendarLink.renew(self.caller, trip), location=self.request.path)

    def _end(self, trip: Trip | None) -> Response:
        CalendarLink.of(self.caller, trip).end()
        return self.no_content()


class TripCalendarLinkViewSet(OwnCalendarLinkViewSet):
    """The caller's link to the calendar of a trip."""

    scope_prefix = "calendar"

    @operation("renewCalendarLink", needs=CanSubscribe.LINK)
    def create(self, request: Request, trip_id: int) -> Response:  # type: ignore[override]
        """Make the caller's address of the calendar of a trip; the former one ends.

        Calendar programs subscribe to it. Whoever has it can read the calendar, and nothing else,
        until `endCalendarLink`, or until the membership or all sessions of the caller end.
        """
        return self._renew(self.get_permitted_trip(trip_id))

    @operation("getCalendarLink", needs=Can.READ)
    def retrieve(self, request: Request, trip_id: int) -> Response:  # type: ignore[override]
        """When the caller's address was made and last read; null without one."""
        return self.answer(CalendarLink.of(self.caller, self.get_permitted_trip(trip_id)))

    @operation("endCalendarLink", needs=CanSubscribe.LINK)
    def destroy(self, request: Request, trip_id: int) -> Response:  # type: ignore[override]
        """End the caller's address; 404 without one."""
        return self._end(self.get_permitted_trip(trip_id))


class CalendarViewSet(OpenViewSet):
    """A calendar, for whoever has its address."""

    tag = "calendars"
    only_format = "ics"

    @operation("getCalendar", has_etag=True, problems=[NotFound], files={"ics": "text/calendar"})
    def retrieve(self, request: Request, secret: str) -> HttpResponseBase:
        """A calendar as an iCalendar file (RFC 5545).

        It has the trip, or the 100 trips that start last, and what its plugins add, such as the
        activities: at most 2,000 entries, the last ones by their day. Times are those on the clocks
        where the trip is. An activity that was deleted is `CANCELLED` for 30 days. Unknown and
        ended addresses are the same 404.
        """
        # With icalendar, it takes 3 MB in every process.
        from plugins.calendar.files import FRESH, calendar_file, state_of  # noqa: PLC0415 -- see above

        link = CalendarLink.presented(secret)
        contents = link.contents()
        self.after_success = link.note_reading
        self.limits.charge_rows(len(contents[1]))
        tag = etag_of(state_of(contents))
        response: HttpResponseBase
        if is_known(request, tag):
            response = HttpResponseNotModified()
        else:
            response = self.file(BytesIO(calendar_file(contents)), "calendar")
        response["ETag"] = tag
        response["Cache-Control"] = f"private, max-age={FRESH.seconds}"
        return response
