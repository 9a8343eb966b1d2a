"""Serializers of messages."""

from typing import Any

from rest_framework import serializers

from plugins.fields import BoundedNumber
from plugins.messages.models import MAX_MESSAGE_CHARS
from tripcompanion.api.serializers import (
    MAX_ID,
    CamelCaseSerializer,
    CreatedQuery,
    IdField,
    NewClientId,
    ShownClientId,
    StrictText,
)
from users.serializers.account import UserSummary

_AN_ID: Any = {"maximum": MAX_ID, "required": False}


class MessageChange(CamelCaseSerializer):
    """The text of a message."""

    text = StrictText(max_length=MAX_MESSAGE_CHARS, help_text="1 to 2,000 characters.")


class MessageRequest(MessageChange):
    """A message to the members of a trip."""

    reply_to = IdField(
        source="reply_to_id",
        required=False,
        allow_null=True,
        help_text="The id of a message of this trip that it answers.",
    )
    client_id = NewClientId()


class MessageQuery(CreatedQuery):
    """Which messages to list."""

    since = BoundedNumber(source="pk__gt", help_text="Only those after this message.", **_AN_ID)
    before = BoundedNumber(source="pk__lt", help_text="Only those before this message.", **_AN_ID)


class ReadRequest(CamelCaseSerializer):
    """How far the caller has read."""

    message_id = IdField(help_text="The newest message that they have read.")


class ReadSerializer(CamelCaseSerializer):
    """How far the caller has read."""

    message_id = serializers.IntegerField(help_text="The newest message that they have read.")
    unread = serializers.IntegerField(help_text="How many messages of others are newer.")


class MessageSerializer(CamelCaseSerializer):
    """A message."""

    id = serializers.IntegerField(help_text="The message's id.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    client_id = ShownClientId()
    by = UserSummary(source="created_by", help_text="Who wrote it.")
    text = serializers.CharField(
        help_text="What they wrote; empty once the author deleted their account."
    )
    reply_to = serializers.IntegerField(
        source="reply_to_id",
        allow_null=True,
        help_text="The message that it answers, which may have been deleted; null for none.",
    )
    created_at = serializers.DateTimeField(help_text="When it was written.")
    updated_at = serializers.DateTimeField(help_text="When its text last changed.")


class ExportedMessage(MessageSerializer):
    """A message that the user wrote."""

    by: Any = None


class ExportedReadMark(ReadSerializer):
    """How far the user has read the messages of a trip."""

    unread: Any = None
    trip_id = serializers.IntegerField(help_text="The trip.")
