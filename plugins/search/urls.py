"""The route of the search."""

from django.urls import path

from plugins.search.views import SearchViewSet

API = [path("search", SearchViewSet.as_view({"get": "list"}))]
