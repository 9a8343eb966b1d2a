"""Saved filters of the caller."""

from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.saved_filters.models import FilterNameTaken, SavedFilter
from plugins.saved_filters.serializers import SavedFilterRequest, SavedFilterSerializer
from tripcompanion.api.operations import operation
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.viewsets import ApiViewSet


class SavedFilterViewSet(ApiViewSet):
    """The caller's filters of the list of expenses, which `filter` names there."""

    tag = "expenses"
    response_serializer = SavedFilterSerializer

    @operation("listFilters")
    def list(self, request: Request) -> Response:
        """The caller's saved filters, oldest first."""
        return self.page(self.caller.saved_filters.order_by("id"))

    @operation("createFilter", takes=SavedFilterRequest, problems=[LimitReached, FilterNameTaken])
    def create(self, request: Request) -> Response:
        """Save a filter of the list of expenses, for `filter` there; at most 50."""
        saved = SavedFilter.save_for(self.caller, **self.body())
        return self.answer(saved, location=f"/api/users/me/filters/{saved.pk}")

    @operation("getFilter", single_statement=True)
    def retrieve(self, request: Request, filter_id: int) -> Response:
        """A saved filter."""
        return self.answer(get_object_or_404(self.caller.saved_filters, pk=filter_id))

    @operation("replaceFilter", takes=SavedFilterRequest, problems=[NotFound, FilterNameTaken])
    def update(self, request: Request, filter_id: int) -> Response:
        """Replace a saved filter."""
        stored = get_object_or_404(self.caller.saved_filters, pk=filter_id)
        stored.replace(**self.body(current=lambda: stored))
        return self.retrieve(request, filter_id)

    @operation("deleteFilter")
    def destroy(self, request: Request, filter_id: int) -> Response:
        """Delete a saved filter."""
        get_object_or_404(self.caller.saved_filters, pk=filter_id).delete()
        return self.no_content()
