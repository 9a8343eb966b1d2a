"""The routes of comments."""

from django.urls import path
from django.utils.translation import gettext as _

from plugins.comments.views import CommentViewSet
from tripcompanion.api.url_map import LIST

EXPENSE = [
    path("/comments", CommentViewSet.as_view(LIST)),
    path(
        "/comments/<id:comment_id>", CommentViewSet.as_view({"put": "update", "delete": "destroy"})
    ),
]

#: The titles of these pages in the browsable API, for the translations.
TITLES = (_("Comments"),)
