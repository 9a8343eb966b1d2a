"""The routes of copies and moves."""

from django.urls import path

from plugins.copying.views import OtherTripViewSet

TRIP = [
    path("/expenses/<id:expense_id>/copy", OtherTripViewSet.as_view({"post": "copy"})),
    path("/expenses/<id:expense_id>/move", OtherTripViewSet.as_view({"post": "move"})),
]
