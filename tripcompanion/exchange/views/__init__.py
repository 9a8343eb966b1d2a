"""Views of imports and exports."""

from tripcompanion.exchange.views.imports import ImportViewSet

__all__ = ["ImportViewSet"]
