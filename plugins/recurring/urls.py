"""The routes of recurring expenses."""

from django.urls import include, path
from django.utils.translation import gettext as _

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

#: The titles of these pages in the browsable API, for the translations.
TITLES = (_("Pause"), _("Preview"), _("Recurring"), _("Resume"), _("Skip"))
