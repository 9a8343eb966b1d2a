"""The routes of archived trips."""

from django.urls import path

from plugins.trip_list.views import ArchiveViewSet

TRIP = [path("/archive", ArchiveViewSet.as_view({"put": "update", "delete": "destroy"}))]
