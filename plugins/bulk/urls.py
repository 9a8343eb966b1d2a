"""The route of many expenses."""

from django.urls import path

from plugins.bulk.views import BulkViewSet

TRIP = [path("/expenses/bulk", BulkViewSet.as_view({"post": "bulk"}))]
