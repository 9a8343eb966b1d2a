"""Views of imports and exports."""

from tripcompanion.exchange.views.exports import ExportViewSet
from tripcompanion.exchange.views.imports import ImportViewSet

__all__ = ["ExportViewSet", "ImportViewSet"]
