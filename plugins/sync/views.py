"""What changed in the caller's trips."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from plugins.states import states_of
from plugins.sync.changes import ChangePage, Changes
from plugins.sync.cursor import CursorExpired
from plugins.sync.live import ChangeWaiter
from plugins.sync.serializers import STREAM_SECONDS, ChangesQuery, ChangesSerializer
from plugins.sync.waiting import hint
from tripcompanion.api.keeping import KEEPER
from tripcompanion.api.operations import operation
from tripcompanion.api.problems import TooManyAtOnce
from tripcompanion.api.rendering import ExactJSONRenderer
from trips.viewsets import InTripViewSet

#: The format of a stream.
_EVENTS = "events"


class ChangeViewSet(InTripViewSet):
    """What changed in all trips of the caller, for clients that were offline or that wait."""

    tag = "changes"
    scope_prefix = "trips"

    def check_throttles(self, request: Request) -> None:
        """Count a request that waits once, however often it is answered."""
        if waiter := self._waiter:
            self.limits = waiter.limits
        else:
            super().check_throttles(request)

    @operation(
        "listChanges",
        needs=None,
        query=ChangesQuery,
        answers=ChangesSerializer,
        problems=[CursorExpired, TooManyAtOnce],
        files={_EVENTS: "text/event-stream"},
    )
    def changes(self, request: Request) -> Any:
        """What changed in all trips of the caller since a cursor, with the current states.

        Without `since`, the response has a cursor for now, and no items; since `start`, every trip
        is a new one. Each object is sent once in a response, however often it changed; a state of
        null means that it is gone. A trip that the caller has lost is gone, and a new trip is sent
        as a whole. A scoped token gets what its scopes let it read.

        `text/event-stream` has the changes as they happen: each is an event `change` with its
        cursor as its `id`, for ten minutes. It goes on after the `Last-Event-ID`, or else after
        `since`. An account may wait with five requests at once.
        """
        query = self.query()
        is_stream = getattr(request.accepted_renderer, "format", "") == _EVENTS
        since = query.get("since")
        if is_stream:
            since = request.headers.get("Last-Event-ID") or since
        waiter, is_first = self._waiter, self._waiter is None
        if waiter is not None:
            since = waiter.since
        elif request.method == "GET" and (is_stream or (since and "wait" in query)):
            waiter = self._begin(query.get("wait", 0), is_stream=is_stream)
        changes = Changes(self.caller, since)
        page = self._with_states(changes.page(query["limit"]))
        if waiter is not None:
            waiter.since, waiter.trips = page.cursor, changes.trips
            told = page.more or (page.items and not is_stream)
            waiter.is_waiting = waiter.has_time and not told
            if is_stream and page.items and not is_first:
                # They cost as much as those of a request.
                super().check_throttles(request)
        return self._events(page, is_first=is_first) if is_stream else self.answer(page)

    @property
    def _waiter(self) -> ChangeWaiter | None:
        """The waiter that the request got when it was answered before."""
        return self.request.META.get(KEEPER)

    def _begin(self, seconds: int, *, is_stream: bool) -> ChangeWaiter:
        seconds = STREAM_SECONDS if is_stream else seconds
        waiter = ChangeWaiter(self.caller.pk, seconds, is_stream=is_stream, limits=self.limits)
        self.request.META[KEEPER] = waiter
        return waiter

    def _with_states(self, page: ChangePage) -> ChangePage:
        present = [change for change in page.items if not change.is_gone]
        states = states_of(self.caller, [(change.trip_id, change.subject) for change in present])
        items = [
            change
            if change.is_gone
            else change._replace(state=states.get((change.trip_id, change.subject)))
            for change in page.items
        ]
        return page._replace(items=items)

    def _events(self, page: ChangePage, *, is_first: bool) -> HttpResponse:
        """The changes as events. The cursor follows them, since it may be further than the last."""
        shown = self._as_declared(page)
        render = ExactJSONRenderer().render
        parts = [hint()] if is_first else []
        parts += [
            b"event: change\nid: %s\ndata: %s\n\n" % (change["cursor"].encode(), render(change))
            for change in shown["items"]
        ]
        is_still = not (is_first or page.items)
        # A comment keeps the connection open.
        parts.append(b":\n\n" if is_still else b"id: %s\n\n" % page.cursor.encode())
        headers = {"X-Accel-Buffering": "no"}
        return HttpResponse(b"".join(parts), headers=headers, content_type="text/event-stream")
