"""The URL map of the client: its own routes, then those of the service."""

from typing import Any

from django.conf import settings
from django.urls import include, path

from plugins.mapmyjourney.views import ExpenseViewSet, FlatExpenseViewSet, TripViewSet
from tripcompanion.api import error_views
from tripcompanion.api.health import HealthViewSet
from tripcompanion.api.url_map import ITEM

API: list[Any] = [
    path("health/auth", HealthViewSet.as_view({"get": "ready"})),
    path("health/trips", HealthViewSet.as_view({"get": "ready"})),
    path("health/users", HealthViewSet.as_view({"get": "ready"})),
    path("trips", TripViewSet.as_view({"get": "list", "post": "create"})),
    path("trips/my-trips", TripViewSet.as_view({"get": "list"})),
    path("trips/<id:trip_id>", TripViewSet.as_view(ITEM)),
    path("trips/<id:trip_id>/code", TripViewSet.as_view({"post": "renew_code"})),
    path("trips/<id:trip_id>/expenses", ExpenseViewSet.as_view({"get": "list", "post": "create"})),
    path("trips/<id:trip_id>/expenses/<id:expense_id>", ExpenseViewSet.as_view(ITEM)),
    path("expenses", FlatExpenseViewSet.as_view({"post": "record"})),
    path("expenses/<id:expense_id>", FlatExpenseViewSet.as_view({"delete": "remove"})),
]

urlpatterns: list[Any] = [path("api/", include(API)), path("", include(settings.ROOT_URLCONF))]

handler400 = error_views.bad_request
handler403 = error_views.forbidden
handler404 = error_views.not_found
handler500 = error_views.server_error
