"""The route of what changed."""

from django.urls import path
from django.utils.translation import gettext as _

from plugins.sync.views import ChangeViewSet

API = [path("changes", ChangeViewSet.as_view({"get": "changes"}))]

#: The titles of these pages in the browsable API, for the translations.
TITLES = (_("Changes"),)
