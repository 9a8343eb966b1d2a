"""The route of what changed."""

from django.urls import path

from plugins.sync.views import ChangeViewSet

API = [path("changes", ChangeViewSet.as_view({"get": "changes"}))]
