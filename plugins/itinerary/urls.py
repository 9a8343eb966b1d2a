"""The routes of activities and of the itinerary."""

from django.urls import path

from plugins.itinerary.views import ActivityViewSet, ItineraryViewSet
from tripcompanion.api.url_map import ITEM, LIST

TRIP = [
    path("/activities", ActivityViewSet.as_view(LIST)),
    path("/activities/order", ItineraryViewSet.as_view({"put": "order"})),
    path("/activities/<id:activity_id>", ActivityViewSet.as_view(ITEM)),
    path("/activities/<id:activity_id>/restore", ActivityViewSet.as_view({"post": "restore"})),
    path("/itinerary", ItineraryViewSet.as_view({"get": "retrieve"})),
    path("/itinerary/<str:date>", ItineraryViewSet.as_view({"put": "day"})),
]
