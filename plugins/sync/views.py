"""What changed in the caller's trips."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from plugins.sync.changes import Changes
from plugins.sync.cursor import CursorExpired
from plugins.sync.serializers import ChangesQuery, ChangesSerializer
from splits.serializers.states import states_of
from trips.viewsets import InTripViewSet


class ChangeViewSet(InTripViewSet):
    """What changed in all trips of the caller, for clients that were offline."""

    tag = "changes"
    operation_ids: ClassVar = {"changes": "listChanges"}
    scope_prefix = "trips"
    needs: ClassVar = {"changes": None}
    query_serializers: ClassVar = {"changes": ChangesQuery}
    response_serializers: ClassVar = {"changes": ChangesSerializer}
    problems: ClassVar = {"changes": [CursorExpired]}

    def changes(self, request: Request) -> Response:
        """What changed in all trips of the caller since a cursor, with the current states.

        Without `since`, the response has a cursor for now, and no items. Each object is sent once
        in a response, however often it changed; a state of null means that it is gone. A trip that
        the caller has lost is gone, and a new trip is sent as a whole. A scoped token without
        `expenses:read` gets trips, members and invitations only.
        """
        query = self.query()
        page = Changes(self.caller, query.get("since")).page(query["limit"])
        present = [change for change in page.items if not change.is_gone]
        states = states_of(self.caller, [(change.trip_id, change.subject) for change in present])
        items = [
            change
            if change.is_gone
            else change._replace(state=states.get((change.trip_id, change.subject)))
            for change in page.items
        ]
        return self.answer(page._replace(items=items))
