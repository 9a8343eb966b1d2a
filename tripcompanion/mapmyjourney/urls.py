"""The URL map of the client: its own routes, then those of the service."""

from typing import Any

from django.urls import include, path

from tripcompanion.api.health import HealthViewSet
from tripcompanion.mapmyjourney.views import ExpenseViewSet, FlatExpenseViewSet, TripViewSet
from tripcompanion.urls import ITEM, handler400, handler403, handler404, handler500

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

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

urlpatterns: list[Any] = [path("api/", include(API)), path("", include("tripcompanion.urls"))]
