"""The routes of messages."""

from django.urls import path

from plugins.messages.views import MessageViewSet
from tripcompanion.api.url_map import LIST

_ONE = {"put": "update", "delete": "destroy"}
TRIP = [
    path("/messages", MessageViewSet.as_view(LIST)),
    path("/messages/read", MessageViewSet.as_view({"put": "read"})),
    path("/messages/<id:message_id>", MessageViewSet.as_view(_ONE)),
    path("/messages/<id:message_id>/restore", MessageViewSet.as_view({"post": "restore"})),
]
