"""The routes of recurring expenses."""

from django.urls import path

from plugins.recurring.views import RecurrenceViewSet
from tripcompanion.api.url_map import CHANGED, LIST

TRIP = [
    path("/recurring", RecurrenceViewSet.as_view(LIST)),
    path("/recurring/preview", RecurrenceViewSet.as_view({"post": "preview"})),
    path("/recurring/<id:recurrence_id>", RecurrenceViewSet.as_view(CHANGED)),
    path("/recurring/<id:recurrence_id>/pause", RecurrenceViewSet.as_view({"post": "pause"})),
    path("/recurring/<id:recurrence_id>/resume", RecurrenceViewSet.as_view({"post": "resume"})),
    path("/recurring/<id:recurrence_id>/skip", RecurrenceViewSet.as_view({"post": "skip"})),
]
