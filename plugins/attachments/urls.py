"""The routes of files: of an expense, of a trip, and of each file."""

from django.urls import include, path

from plugins.attachments.views import AttachmentViewSet, TripAttachmentViewSet
from plugins.forms import FileFormParser
from tripcompanion.api.url_map import KEPT, LIST

ATTACHMENT = [
    path("", AttachmentViewSet.as_view(KEPT)),
    path("/content", AttachmentViewSet.as_view({"get": "content"})),
    path("/thumbnail", AttachmentViewSet.as_view({"get": "thumbnail"})),
]

EXPENSE = [path("/attachments", AttachmentViewSet.as_view(LIST, parser_classes=[FileFormParser]))]

TRIP = [path("/attachments", TripAttachmentViewSet.as_view(LIST, parser_classes=[FileFormParser]))]

API = [path("attachments/<id:attachment_id>", include(ATTACHMENT))]
