"""The routes of recurring expenses."""

from django.urls import include, path

from plugins.recurring.views import RecurrenceViewSet
from tripcompanion.api.url_map import CHANGED, LIST

RECURRING = [
    path("", RecurrenceViewSet.as_view(LIST)),
    path("/preview", RecurrenceViewSet.as_view({"post": "preview"})),
    path("/<id:recurrence_id>", RecurrenceViewSet.as_view(CHANGED)),
    path("/<id:recurrence_id>/pause", RecurrenceViewSet.as_view({"post": "pause"})),
    path("/<id:recurrence_id>/resume", RecurrenceViewSet.as_view({"post": "resume"})),
    path("/<id:recurrence_id>/skip", RecurrenceViewSet.as_view({"post": "skip"})),
]

TRIP = [path("/recurring", include(RECURRING))]
