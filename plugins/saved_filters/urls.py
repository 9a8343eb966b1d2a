"""The routes of saved filters."""

from django.urls import path

from plugins.saved_filters.views import SavedFilterViewSet
from tripcompanion.api.url_map import LIST, REPLACED

ME = [
    path("/filters", SavedFilterViewSet.as_view(LIST)),
    path("/filters/<id:filter_id>", SavedFilterViewSet.as_view(REPLACED)),
]
