"""The route of merges."""

from django.urls import path

from plugins.merging.views import MergeViewSet

TRIP = [path("/guests/<id:user_id>/merge", MergeViewSet.as_view({"post": "merge"}))]
