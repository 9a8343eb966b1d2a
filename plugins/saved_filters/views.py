"""Saved filters of the caller."""

from typing import ClassVar

from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.saved_filters.models import FilterNameTaken, SavedFilter
from plugins.saved_filters.serializers import SavedFilterRequest, SavedFilterSerializer
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.viewsets import ApiViewSet


class SavedFilterViewSet(ApiViewSet):
    """The caller's filters of the list of expenses, which `filter` names there."""

    tag = "expenses"
    operation_ids: ClassVar = {
        "list": "listFilters",
        "create": "createFilter",
        "retrieve": "getFilter",
        "update": "replaceFilter",
        "destroy": "deleteFilter",
    }
    request_serializers: ClassVar = dict.fromkeys(("create", "update"), SavedFilterRequest)
    response_serializer = SavedFilterSerializer
    single_statement: ClassVar = frozenset({"retrieve"})
    problems: ClassVar = {
        "create": [LimitReached, FilterNameTaken],
        "update": [NotFound, FilterNameTaken],
    }

    def list(self, request: Request) -> Response:
        """The caller's saved filters, oldest first."""
        return self.page(self.caller.saved_filters.order_by("id"))

    def create(self, request: Request) -> Response:
        """Save a filter of the list of expenses, for `filter` there; at most 50."""
        saved = SavedFilter.save_for(self.caller, **self.body())
        return self.answer(saved, location=f"/api/users/me/filters/{saved.pk}")

    def retrieve(self, request: Request, filter_id: int) -> Response:
        """A saved filter."""
        return self.answer(get_object_or_404(self.caller.saved_filters, pk=filter_id))

    def update(self, request: Request, filter_id: int) -> Response:
        """Replace a saved filter."""
        stored = get_object_or_404(self.caller.saved_filters, pk=filter_id)
        stored.replace(**self.body(current=lambda: stored))
        return self.retrieve(request, filter_id)

    def destroy(self, request: Request, filter_id: int) -> Response:
        """Delete a saved filter."""
        get_object_or_404(self.caller.saved_filters, pk=filter_id).delete()
        return self.no_content()
