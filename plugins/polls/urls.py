"""The routes of polls."""

from django.urls import include, path

from plugins.polls.views import PollViewSet
from tripcompanion.api.url_map import CHANGED, LIST

POLLS = [
    path("", PollViewSet.as_view(LIST)),
    path("/<id:poll_id>", PollViewSet.as_view(CHANGED)),
    path("/<id:poll_id>/vote", PollViewSet.as_view({"put": "vote"})),
    path("/<id:poll_id>/close", PollViewSet.as_view({"post": "close"})),
    path("/<id:poll_id>/reopen", PollViewSet.as_view({"post": "reopen"})),
    path("/<id:poll_id>/restore", PollViewSet.as_view({"post": "restore"})),
]

TRIP = [path("/polls", include(POLLS))]
