"""The routes of calendars and of the links to them."""

from django.urls import path

from plugins.calendar.views import CalendarViewSet, OwnCalendarLinkViewSet, TripCalendarLinkViewSet
from tripcompanion.api.url_map import KEPT

_LINK = {**KEPT, "post": "create"}

TRIP = [path("/calendar-link", TripCalendarLinkViewSet.as_view(_LINK))]
ME = [path("/calendar-link", OwnCalendarLinkViewSet.as_view(_LINK))]
API = [path("calendars/<str:secret>.ics", CalendarViewSet.as_view({"get": "retrieve"}))]
