"""The base of views of rows that can be restored; see `restorable.py`."""

from typing import Any, ClassVar

from rest_framework.response import Response

from trips.viewsets import InTripViewSet


class RestorableViewSet(InTripViewSet):
    """Base of viewsets for rows that are only marked as deleted."""

    #: Its manager has `kept` and `deleted`, its rows `remove` and `restore`.
    model: ClassVar[Any]

    def get_kept(self, trip_id: int, pk: int) -> Any:
        """The row that is not deleted. Raises what `get_permitted_object` raises."""
        return self.get_permitted_object(self.model.objects.kept, trip_id=trip_id, pk=pk)

    def page_of_query(self, rows: Any) -> Response:
        """The rows that the query chooses, in their order, or of those that can be restored."""
        chosen = self.query()
        rows = rows.restorable() if chosen.pop("deleted") else rows.kept()
        return self.page(rows.filter(**chosen))

    def remove(self, trip_id: int, pk: int) -> Response:
        """Delete the row."""
        self.get_kept(trip_id, pk).remove(self.caller)
        return self.no_content()

    def restored(self, trip_id: int, pk: int) -> Any:
        """The row, which was deleted. Raises `NotRestorable` if it was not."""
        rows, lookup = self.model.objects, {"trip_id": trip_id, "pk": pk}
        with self.restoring(rows.kept, **lookup):
            return self.get_permitted_object(rows.deleted, **lookup).restore(self.caller)
