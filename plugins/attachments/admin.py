"""Attachments in the admin site."""

from typing import Any

from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest
from django.urls import path
from django.utils.html import format_html
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.attachments.models import Attachment
from plugins.attachments.storage import opened
from plugins.csv_export import named
from tripcompanion.adminsite.base import page_url


@admin.register(Attachment)
class AttachmentAdmin(ExportedAdmin):
    """What was attached to expenses and trips. Of the files, only thumbnails are displayed."""

    csv_columns = {
        **named("id", "trip_id", "expense_id", "parent_type"),
        "uploaded_by": "created_by__email",
        **named("name", "type", "size_bytes", "state", "refusal", "created_at"),
    }
    list_display = (
        *("id", "name", "trip", "expense", "created_by"),
        *("type", "size_bytes", "state", "refusal", "created_at"),
    )
    list_filter = ("state", "type", "parent_type")
    search_fields = ("name",)
    search_help_text = gettext_lazy("A file's name, a trip's title, or a person's e-mail or name")
    fields = ("picture", "parent_type", *list_display[1:])

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.thumbnail_view)
        name = "attachments_attachment_thumbnail"
        return [path("<path:object_id>/thumbnail/", view, name=name), *super().get_urls()]

    def thumbnail_view(self, request: HttpRequest, object_id: str) -> FileResponse:
        """The thumbnail, which this service has made."""
        row = self.get_object(request, object_id)
        if row is None or not row.thumbnail:
            raise Http404
        return FileResponse(opened(row.thumbnail), content_type="image/jpeg")

    @admin.display(description=gettext_lazy("picture"))
    def picture(self, row: Attachment) -> str:
        if not row.thumbnail:
            return "-"
        return format_html('<img src="{}" alt="">', page_url(Attachment, "thumbnail", row.pk))
