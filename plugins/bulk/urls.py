"""The route of many expenses."""

from django.urls import path
from django.utils.translation import gettext as _

from plugins.bulk.views import BulkViewSet

TRIP = [path("/expenses/bulk", BulkViewSet.as_view({"post": "bulk"}))]
TITLES = (_("Bulk"),)
