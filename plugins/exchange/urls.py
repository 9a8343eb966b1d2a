"""The routes of imports and exports."""

from django.urls import include, path

from plugins.exchange.views import FILE_PARSERS, ExportViewSet, ImportViewSet
from tripcompanion.api.url_map import CHANGED

IMPORTS = [
    path("", ImportViewSet.as_view({"post": "create"}, parser_classes=FILE_PARSERS)),
    path("/<id:import_id>", ImportViewSet.as_view(CHANGED)),
    path("/<id:import_id>/rows", ImportViewSet.as_view({"get": "rows"})),
    path("/<id:import_id>/confirm", ImportViewSet.as_view({"post": "confirm"})),
    path("/<id:import_id>/undo", ImportViewSet.as_view({"post": "undo"})),
]

API = [path("imports", include(IMPORTS))]

TRIP = [path("/export", ExportViewSet.as_view({"get": "export"}))]
