"""App configuration."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import (
    AssistantTool,
    Notice,
    Outdated,
    PersonalList,
    Plugin,
    Searched,
    TripField,
    TripObject,
    TripTable,
)


class MessagesConfig(Plugin):
    name = "plugins.messages"
    label = "trip_messages"
    verbose_name = gettext_lazy("Messages")
    scopes = {
        "messages:read": gettext_lazy("Read the messages of your trips"),
        "messages:write": gettext_lazy("Write, change and delete messages"),
    }
    events = {
        "message.created": gettext_lazy("%(by)s wrote a message."),
        "message.changed": gettext_lazy("%(by)s changed a message."),
        "message.deleted": gettext_lazy("%(by)s deleted a message."),
        "message.restored": gettext_lazy("%(by)s restored a message."),
    }
    notices = {
        "message.created": Notice(
            gettext_lazy("notice: message"), gettext_lazy("There are new messages in a trip:")
        )
    }
    tools = {
        "messages": AssistantTool(
            "The messages of a trip, the newest first.", "GET /api/trips/{trip}/messages"
        ),
        "send_message": AssistantTool(
            "Writes to the members of a trip.", "POST /api/trips/{trip}/messages"
        ),
    }

    def objects(self) -> Mapping[str, TripObject]:
        from plugins.messages.models import Message
        from plugins.messages.serializers import MessageSerializer

        rows, searched = Message.objects.shown, Searched(("text",))
        return {"message": TripObject("messages", rows, MessageSerializer, searched=searched)}

    def trip_fields(self) -> Mapping[str, TripField]:
        from rest_framework.serializers import IntegerField

        from plugins.messages.models import unread_by

        text = "Of the plugin `messages`: how many messages of others the caller has not read."
        return {"unread": TripField(IntegerField(help_text=text), unread_by)}

    def trip_tables(self) -> Iterable[TripTable]:
        from plugins.messages.models import Message, finish_imported
        from plugins.messages.serializers import MessageChange

        yield TripTable("messages", Message, request=MessageChange, finish=finish_imported)

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.messages.models import Message, ReadMark
        from plugins.messages.serializers import ExportedMessage, ExportedReadMark

        yield PersonalList(
            "messages",
            ExportedMessage,
            "The messages that they wrote, deleted ones for 30 days.",
            lambda user: Message.objects.filter(created_by=user).order_by("id"),
        )
        yield PersonalList(
            "read_messages",
            ExportedReadMark,
            "How far they have read the messages of each trip.",
            lambda user: ReadMark.objects.filter(user=user).order_by("id"),
        )

    def traces(self, account: Any) -> Iterable[QuerySet[Any]]:
        """An ADMIN can write in trips without being a member."""
        from plugins.messages.models import written_by

        return written_by(account)

    def forget(self, account: Any, by: Any) -> None:
        from plugins.messages.models import forget_messages_of

        forget_messages_of(account, by)

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.messages.models import Message

        yield "deleted messages", [Message.objects.outdated(now)]

    def figures(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        from plugins.messages.models import Message

        count = Message.objects.filter(created_at__gt=timezone.now() - timedelta(hours=1)).count()
        name, text = "tripcompanion_messages_last_hour", "Messages written in the last hour."
        yield GaugeMetricFamily(name, text, value=count)

    def demo(self, trip: Any, people: Mapping[str, Any]) -> None:
        """What people in Lisbon wrote; Olga has not read the last one."""
        from plugins.messages.models import Message, ReadMark

        at = {"created_at": trip.created_at}
        olga, ed, vera = (people[name] for name in ("olga", "ed", "vera"))
        first = Message.add(trip, olga, text="Who is at the airport before noon?", **at)
        reply = Message.add(trip, ed, text="Vera and I land at 11:40.", reply_to_id=first.pk, **at)
        Message.add(trip, vera, text="Wrong chat", **at).remove(vera)
        Message.add(trip, vera, text="We take the metro. See you at the flat!", **at)
        ReadMark.read(trip, olga, reply.pk)
