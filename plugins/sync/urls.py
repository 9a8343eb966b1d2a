"""The route of what changed."""

from django.urls import path
from django.utils.translation import gettext as _

from plugins.sync.views import ChangeViewSet

API = [path("changes", ChangeViewSet.as_view({"get": "changes"}))]

#: The titles of the pages; see `tripcompanion.urls`.
TITLES = (_("Changes"),)
