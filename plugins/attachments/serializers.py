"""Serializers of attachments."""

from typing import Any

from django.utils.translation import gettext_lazy
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from plugins.attachments.models import MAX_FILE_BYTES, State
from plugins.attachments.recognition import Kind
from plugins.forms import SentFile
from tripcompanion.api.parsing import PayloadTooLarge
from tripcompanion.api.serializers import CamelCaseSerializer, example
from users.serializers.account import UserSummary


@extend_schema_field(OpenApiTypes.BINARY)
class FileField(serializers.Field):
    """The file of a form; raises `PayloadTooLarge`."""

    default_error_messages = {"empty": gettext_lazy("The file is empty.")}

    def to_internal_value(self, data: SentFile) -> SentFile:
        if not data.size:
            self.fail("empty")
        if data.size > MAX_FILE_BYTES:
            raise PayloadTooLarge(MAX_FILE_BYTES)
        return data


@extend_schema_serializer(
    examples=[
        OpenApiExample("Example", value={"file": "taxi.jpg"}, media_type="multipart/form-data")
    ]
)
class AttachmentRequest(CamelCaseSerializer):
    """A form with a file."""

    file = FileField(
        style={"input_type": "file"},
        help_text=gettext_lazy(
            "A picture, PDF, text, CSV, Office, GPX, iCalendar or e-mail file, at most 10 MiB."
        ),
    )


#: In the OpenAPI document.
ATTACHMENT: dict[str, Any] = {
    "id": 1,
    "name": "taxi.jpg",
    "type": Kind.JPEG,
    "bytes": 48213,
    "state": State.READY,
    "by": {
        "id": 2,
        "name": "Olga Owner",
        "email": "olga@example.com",
        "profilePicture": None,
        "guest": False,
    },
    "createdAt": "2026-05-14T21:40:00Z",
    "url": "/api/attachments/1/content",
    "thumbnailUrl": "/api/attachments/1/thumbnail",
}


@example(ATTACHMENT)
class AttachmentSerializer(CamelCaseSerializer):
    """A file of an expense or of a trip."""

    id = serializers.IntegerField(help_text="The attachment's id.")
    name = serializers.CharField(help_text="The name of the file as it was uploaded.")
    type = serializers.ChoiceField(
        Kind.choices, help_text="By its content. HEIC becomes JPEG when it is processed."
    )
    bytes = serializers.IntegerField(
        source="size_bytes", help_text="The size of the file; 0 if it was refused."
    )
    state = serializers.ChoiceField(
        State.choices,
        help_text=(
            "A file but a PDF is `processing` until it was cleaned or checked; then it is `ready`, "
            "or `refused`. The content of a refused one tells the reason."
        ),
    )
    by = UserSummary(source="created_by", help_text="Who uploaded it.")
    created_at = serializers.DateTimeField(help_text="When it was uploaded.")
    url = serializers.CharField(help_text="The path of the content, which needs the token, too.")
    thumbnail_url = serializers.CharField(
        allow_null=True,
        help_text="The path of a JPEG of at most 480 × 480 pixels; null unless it is a picture "
        "that is ready.",
    )


class ExportedAttachment(AttachmentSerializer):
    """A file that the user attached; the archive has its content as `attachments/<id>.<type>`."""

    by: Any = None
    trip_id = serializers.IntegerField(help_text="The trip.")
    expense_id = serializers.IntegerField(
        allow_null=True, help_text="The expense; null for a file of something else."
    )
    parent_type = serializers.CharField(
        allow_null=True, help_text="What else it belongs to, such as `document`; null for neither."
    )
