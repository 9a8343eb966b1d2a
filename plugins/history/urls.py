"""The routes of the history: of a trip, and of an expense."""

from django.urls import path

from plugins.history.views import ExpenseHistoryViewSet, HistoryViewSet

TRIP = [
    path("/history", HistoryViewSet.as_view({"get": "list"})),
    path("/expenses/<id:expense_id>/history", ExpenseHistoryViewSet.as_view({"get": "list"})),
]
