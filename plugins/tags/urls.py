"""The routes of tags."""

from django.urls import path

from plugins.tags.views import TagViewSet

TRIP = [
    path("/tags", TagViewSet.as_view({"get": "list"})),
    path("/tags/<path:tag_name>", TagViewSet.as_view({"patch": "partial_update"})),
]
