"""Messages of a trip."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from plugins.messages.models import Message, ReadMark, unread_by
from plugins.messages.rights import CanMessage
from plugins.messages.serializers import (
    MessageChange,
    MessageQuery,
    MessageRequest,
    MessageSerializer,
    ReadRequest,
    ReadSerializer,
)
from plugins.restorable_views import RestorableViewSet
from tripcompanion.api.operations import operation
from trips.models.conflicts import NotRestorable
from trips.roles import Can


class MessageViewSet(RestorableViewSet):
    """What the members of a trip write to each other."""

    tag = "messages"
    scope_prefix = "messages"
    model = Message
    response_serializer = MessageSerializer

    @operation("listMessages", needs=Can.READ, query=MessageQuery)
    def list(self, request: Request, trip_id: int) -> Response:
        """The messages of a trip, newest first."""
        trip = self.get_permitted_trip(trip_id)
        return self.page_of_query(trip.messages.with_details().order_by("-pk"))

    @operation("sendMessage", needs=CanMessage.WRITE, takes=MessageRequest)
    def create(self, request: Request, trip_id: int) -> Response:
        """Write to the members of a trip.

        A trip has at most 20,000 messages. Guests do not read them.
        """
        trip = self.get_permitted_trip(trip_id)
        message = self.created_once(
            trip_id, trip.messages.shown, lambda: Message.add(trip, self.caller, **self.body())
        )
        return self.answer(message, location=f"/api/trips/{trip_id}/messages/{message.pk}")

    @operation("replaceMessage", needs=CanMessage.CHANGE, takes=MessageChange)
    def update(self, request: Request, trip_id: int, message_id: int) -> Response:
        """Replace the text of one's own message."""
        message = self.get_kept(trip_id, message_id)
        return self.answer(message.change(self.caller, **self.body(current=lambda: message)))

    @operation("deleteMessage", needs=CanMessage.DELETE)
    def destroy(self, request: Request, trip_id: int, message_id: int) -> Response:
        """Delete a message.

        For 30 days, `restoreMessage` undoes it.
        """
        return self.remove(trip_id, message_id)

    @operation("restoreMessage", needs=CanMessage.DELETE, problems=[NotRestorable])
    def restore(self, request: Request, trip_id: int, message_id: int) -> Response:
        """Restore a deleted message."""
        return self.answer(self.restored(trip_id, message_id))

    @operation(
        "readMessages",
        needs=CanMessage.MARK,
        takes=ReadRequest,
        answers=ReadSerializer,
        uncounted=True,
    )
    def read(self, request: Request, trip_id: int) -> Response:
        """Say up to which message one has read.

        It only moves forward: an older message than before changes nothing. What one wrote oneself
        is never unread.
        """
        trip = self.get_permitted_trip(trip_id)
        rows: Any = ReadMark.objects.filter(trip=trip_id, user=self.caller)
        marks = rows.annotate(unread=unread_by(self.caller, "trip"))
        ReadMark.read(trip, self.caller, **self.body(current=lambda: marks.first() or ReadMark()))
        return self.answer(marks.get())
