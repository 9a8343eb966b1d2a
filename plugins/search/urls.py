"""The route of the search."""

from django.urls import path
from django.utils.translation import gettext as _

from plugins.search.views import SearchViewSet

API = [path("search", SearchViewSet.as_view({"get": "list"}))]

#: The titles of these pages in the browsable API, for the translations.
TITLES = (_("Search"),)
