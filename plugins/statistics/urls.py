"""The routes of statistics: of the caller, and of a trip."""

from django.urls import path

from plugins.statistics.views import (
    BalancesPictureViewSet,
    ExplanationViewSet,
    PersonalStatisticsViewSet,
    StatisticsViewSet,
)

ME = [
    path("/statistics", PersonalStatisticsViewSet.as_view({"get": "retrieve"})),
    path(
        "/statistics.svg",
        PersonalStatisticsViewSet.as_picture("retrieve", "getMyStatisticsPicture"),
    ),
    path("/between/<id:user_id>", PersonalStatisticsViewSet.as_view({"get": "between"})),
]

TRIP = [
    path("/balances/<id:user_id>", ExplanationViewSet.as_view({"get": "explain"})),
    path("/balances.svg", BalancesPictureViewSet.as_view({"get": "picture"})),
    path("/statistics", StatisticsViewSet.as_view({"get": "retrieve"})),
    path("/statistics.svg", StatisticsViewSet.as_picture("retrieve", "getTripStatisticsPicture")),
]
