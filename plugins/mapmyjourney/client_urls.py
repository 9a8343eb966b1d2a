"""The URL map of the client: its own routes, then those of the service."""

from typing import Any

from django.conf import settings
from django.urls import include, path

from plugins.mapmyjourney.activities import ActivityViewSet, IdsParser, ItineraryViewSet
from plugins.mapmyjourney.views import (
    CodeViewSet,
    ExpenseViewSet,
    FlatExpenseViewSet,
    ParticipantViewSet,
    SumsViewSet,
    TripsOfUserViewSet,
    TripViewSet,
)
from tripcompanion.api import error_views
from tripcompanion.api.health import HealthViewSet
from tripcompanion.api.url_map import CHANGED, ITEM, LIST

#: What the client sends with PUT are parts.
PARTS = {**CHANGED, "put": "partial_update"}
FLAT = {"get": "read", "put": "replace", "delete": "remove"}

API: list[Any] = [
    path("health/auth", HealthViewSet.as_view({"get": "ready"})),
    path("health/trips", HealthViewSet.as_view({"get": "ready"})),
    path("health/users", HealthViewSet.as_view({"get": "ready"})),
    path("trips", TripViewSet.as_view({"get": "list", "post": "create"})),
    path("trips/my-trips", TripViewSet.as_view({"get": "list"})),
    path("trips/<id:trip_id>", TripViewSet.as_view(ITEM)),
    path("trips/<id:trip_id>/code", CodeViewSet.as_view({"post": "renew_code"})),
    path("trips/<id:trip_id>/expenses", ExpenseViewSet.as_view({"get": "list", "post": "create"})),
    path("trips/<id:trip_id>/expenses/<id:expense_id>", ExpenseViewSet.as_view(ITEM)),
    path("expenses", FlatExpenseViewSet.as_view({"post": "record"})),
    path("expenses/<id:expense_id>", FlatExpenseViewSet.as_view(FLAT)),
    path("expenses/<id:expense_id>/paid", FlatExpenseViewSet.as_view({"patch": "paid"})),
    path("expenses/settlements/<id:trip_id>", SumsViewSet.as_view({"get": "transfers"})),
    path("expenses/summary/<id:trip_id>", SumsViewSet.as_view({"get": "summary"})),
    path("users/<id:user_id>/trips", TripsOfUserViewSet.as_view({"get": "list"})),
    path("trips/<id:trip_id>/participants", ParticipantViewSet.as_view({"post": "create"})),
    path(
        "trips/<id:trip_id>/participants/<id:user_id>",
        ParticipantViewSet.as_view({"delete": "destroy"}),
    ),
    path("trips/<id:trip_id>/activities", ActivityViewSet.as_view(LIST)),
    path("trips/<id:trip_id>/activities/date", ActivityViewSet.as_view({"get": "on_day"})),
    path(
        "trips/<id:trip_id>/activities/reorder",
        ActivityViewSet.as_view({"put": "reorder"}, parser_classes=[IdsParser]),
    ),
    path("trips/<id:trip_id>/activities/<id:activity_id>", ActivityViewSet.as_view(PARTS)),
    path("trips/<id:trip_id>/itinerary", ItineraryViewSet.as_view({"get": "retrieve"})),
    path("trips/<id:trip_id>/itinerary/reorder", ItineraryViewSet.as_view({"put": "reorder"})),
]

urlpatterns: list[Any] = [path("api/", include(API)), path("", include(settings.ROOT_URLCONF))]

handler400 = error_views.bad_request
handler403 = error_views.forbidden
handler404 = error_views.not_found
handler500 = error_views.server_error
