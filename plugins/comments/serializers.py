"""Serializers of comments on an expense."""

from typing import Any

from rest_framework import serializers

from plugins.comments.models import MAX_COMMENT_CHARS
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    NewClientId,
    ShownClientId,
    StrictText,
)
from users.serializers.account import UserSummary


class CommentRequest(CamelCaseSerializer):
    """The text of a comment."""

    text = StrictText(max_length=MAX_COMMENT_CHARS, help_text="1 to 2,000 characters.")


class NewComment(CommentRequest):
    """A comment on an expense."""

    client_id = NewClientId()


class CommentSerializer(CamelCaseSerializer):
    """A comment on an expense."""

    id = serializers.IntegerField(help_text="The comment's id.")
    expense_id = serializers.IntegerField(help_text="The expense.")
    client_id = ShownClientId()
    by = UserSummary(source="created_by", help_text="Who wrote it.")
    text = serializers.CharField(
        help_text="What they wrote; empty once the author deleted their account."
    )
    created_at = serializers.DateTimeField(help_text="When it was written.")
    updated_at = serializers.DateTimeField(help_text="When it last changed.")


class ExportedComment(CommentSerializer):
    """A comment that the user wrote."""

    by: Any = None
    trip_id = serializers.IntegerField(help_text="The trip.")
