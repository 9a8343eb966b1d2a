"""The routes of archived trips."""

from django.urls import path
from django.utils.translation import gettext as _

from plugins.trip_list.views import ArchiveViewSet

TRIP = [path("/archive", ArchiveViewSet.as_view({"put": "update", "delete": "destroy"}))]

#: The titles of these pages in the browsable API, for the translations.
TITLES = (_("Archive"),)
