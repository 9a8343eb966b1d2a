"""The routes of documents."""

from django.urls import path

from plugins.documents.views import DocumentAttachmentViewSet, DocumentViewSet
from plugins.forms import FileFormParser
from tripcompanion.api.url_map import CHANGED, LIST

_FILES = DocumentAttachmentViewSet.as_view({"post": "create"}, parser_classes=[FileFormParser])

TRIP = [
    path("/documents", DocumentViewSet.as_view(LIST)),
    path("/documents/<id:document_id>", DocumentViewSet.as_view(CHANGED)),
    path("/documents/<id:document_id>/restore", DocumentViewSet.as_view({"post": "restore"})),
    path("/documents/<id:document_id>/attachments", _FILES),
]
