"""The routes of comments."""

from django.urls import path

from plugins.comments.views import CommentViewSet
from tripcompanion.api.url_map import LIST

EXPENSE = [
    path("/comments", CommentViewSet.as_view(LIST)),
    path(
        "/comments/<id:comment_id>", CommentViewSet.as_view({"put": "update", "delete": "destroy"})
    ),
]
