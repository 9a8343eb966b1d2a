"""The archive of the caller's trips."""

from rest_framework.request import Request
from rest_framework.response import Response

from plugins.trip_list.models import ArchivedTrip
from plugins.trip_list.rights import CanArchive
from tripcompanion.api.operations import operation
from trips.models import Trip
from trips.viewsets import InTripViewSet


class ArchiveViewSet(InTripViewSet):
    """Whether the caller's list of trips shows a trip. Nobody else notices it."""

    tag = "trips"
    scope_prefix = "trips"
    is_counted = False

    @operation("archiveTrip", needs=CanArchive.ARCHIVE)
    def update(self, request: Request, trip_id: int) -> Response:
        """Archive a trip in the caller's own list of trips.

        `listTrips` shows it with `archived=true` only, until `unarchiveTrip` or the end of the
        membership. Everything else stays as it is: balances, changes, mails. Repeating it changes
        nothing.
        """
        ArchivedTrip.add(self._trip(trip_id), self.caller)
        return self.no_content()

    @operation("unarchiveTrip", needs=CanArchive.ARCHIVE)
    def destroy(self, request: Request, trip_id: int) -> Response:
        """Put a trip back into the caller's own list of trips.

        Repeating it changes nothing.
        """
        ArchivedTrip.remove(self._trip(trip_id), self.caller)
        return self.no_content()

    def _trip(self, trip_id: int) -> Trip:
        return self.get_permitted_trip(trip_id)
