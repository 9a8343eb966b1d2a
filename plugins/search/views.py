"""The search."""

from rest_framework.request import Request
from rest_framework.response import Response

from plugins.search.finding import Findings
from plugins.search.serializers import FoundSerializer, SearchQuery
from tripcompanion.api.operations import operation
from trips.viewsets import InTripViewSet


class SearchViewSet(InTripViewSet):
    """Texts in all that the caller may see."""

    tag = "search"
    scope_prefix = "trips"
    response_serializer = FoundSerializer

    @operation("search", needs=None, query=SearchQuery)
    def list(self, request: Request) -> Response:
        """Search in all trips that the caller may see, the newest first.

        It finds titles, names, descriptions, destinations, notes, texts and questions, and the
        place and link of an activity; not the options of a poll, and not the tags and items of an
        expense. Of each type, it finds the 1,000 objects that were made last. Deleted objects are
        not found; trips that the caller has archived are. A trip to which somebody added the caller
        is searched once the caller has read or written in it, or if `tripId` names it. A scoped
        token finds what it may read.
        """
        chosen = self.query()
        return self.page(
            Findings(self.caller, chosen["q"], chosen.get("type"), chosen.get("trip_id"))
        )
