"""Serializers of documents."""

from typing import Any

from django.utils.translation import gettext_lazy
from rest_framework import serializers

from plugins.attachments.serializers import ATTACHMENT, AttachmentRequest, AttachmentSerializer
from plugins.documents.models import MAX_NAME_CHARS, MAX_WANTED, MEMBERS
from plugins.fields import BoundedNumber
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    IdField,
    StrictDate,
    StrictText,
    describe,
    example,
)
from users.serializers.account import UserSummary


class WantedField(BoundedNumber):
    """A number of files, or `members`, which is None in Python."""

    default_error_messages = {
        "invalid": gettext_lazy("Must be a whole number of at least 1, or “members”.")
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(maximum=MAX_WANTED, **options)
        number = {"type": "integer", "minimum": 1, "maximum": MAX_WANTED}
        describe(self, {"oneOf": [number, {"type": "string", "pattern": f"^{MEMBERS}$"}]})

    def to_internal_value(self, data: Any) -> Any:
        return None if data == MEMBERS else super().to_internal_value(data)


class DocumentRequest(CamelCaseSerializer):
    """What a trip needs."""

    name = StrictText(max_length=MAX_NAME_CHARS, help_text="What to attach, 1 to 100 characters.")
    wanted = WantedField(
        default=1,
        help_text="How many files, or `members`: one of each member, guests too; at most 1000.",
    )
    due_on = StrictDate(
        required=False, allow_null=True, help_text="The last day for it; null for none."
    )


class FiledDocument(DocumentRequest):
    """A document in the file of a trip."""

    wanted = WantedField(allow_null=True)


class DocumentAttachmentRequest(AttachmentRequest):
    """A form with a file."""

    user_id = IdField(
        required=False, help_text="Whose it is, such as a guest's; by default the caller's."
    )


@example({**ATTACHMENT, "person": ATTACHMENT["by"]})
class DocumentAttachmentSerializer(AttachmentSerializer):
    """A file of a document."""

    person = UserSummary(
        source="document_file.person", help_text="Whose it is; somebody else may have uploaded it."
    )


class ExportedDocument(CamelCaseSerializer):
    """A document that a user asked for."""

    id = serializers.IntegerField(help_text="The id of the document.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    name = serializers.CharField(help_text="What to attach.")
    due_on = serializers.DateField(allow_null=True, help_text="The last day for it.")


class DocumentSerializer(ExportedDocument):
    """Something that a trip needs, and what was attached."""

    per_member = serializers.BooleanField(help_text="Whether each member is to attach one.")
    wanted = serializers.IntegerField(
        source="wanted_now", help_text="How many are wanted; if `perMember`, one of each member."
    )
    attached = serializers.IntegerField(
        help_text="How many files there are; if `perMember`, of how many members."
    )
    count = serializers.CharField(help_text="`attached` of `wanted`, such as `2/4`.")
    complete = serializers.BooleanField(help_text="Whether no more are wanted.")
    missing = UserSummary(
        many=True, help_text="If `perMember`, the members without a file of theirs."
    )
    attachments = DocumentAttachmentSerializer(many=True, help_text="The files, oldest first.")
    created_by = UserSummary(help_text="Who asked for it.")


class ExportedDocumentFile(CamelCaseSerializer):
    """A file of theirs, whoever attached it."""

    document_id = serializers.IntegerField(help_text="The document.")
    document = serializers.CharField(source="document.name", help_text="What it is.")
    attachment_id = serializers.IntegerField(help_text="The file; the archive has its content.")
