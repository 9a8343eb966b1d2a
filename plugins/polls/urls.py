"""The routes of polls."""

from django.urls import path

from plugins.polls.views import PollViewSet
from tripcompanion.api.url_map import CHANGED, LIST

TRIP = [
    path("/polls", PollViewSet.as_view(LIST)),
    path("/polls/<id:poll_id>", PollViewSet.as_view(CHANGED)),
    path("/polls/<id:poll_id>/vote", PollViewSet.as_view({"put": "vote"})),
    path("/polls/<id:poll_id>/close", PollViewSet.as_view({"post": "close"})),
    path("/polls/<id:poll_id>/reopen", PollViewSet.as_view({"post": "reopen"})),
    path("/polls/<id:poll_id>/restore", PollViewSet.as_view({"post": "restore"})),
]
