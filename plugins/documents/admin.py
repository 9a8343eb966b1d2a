"""Documents in the admin site. Their files are among the attachments."""

from typing import ClassVar

from django.contrib import admin
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.documents.models import Document


@admin.register(Document)
class DocumentAdmin(ExportedAdmin):
    """What trips need, until when, and whether people are still to be reminded."""

    _columns = ("name", "wanted", "due_on", "remind_at", "created_at", "updated_at", "deleted_at")
    csv_columns = named("id", "trip_id", "created_by_id", *_columns)
    list_display = ("id", "trip", "name", "created_by", *_columns[1:4], "deleted_at")
    list_filter: ClassVar = [
        "due_on",
        *((name, admin.EmptyFieldListFilter) for name in ("wanted", "remind_at", "deleted_at")),
    ]
    search_fields = ("name",)
    search_help_text = gettext_lazy("A document, a trip's title, or a person's e-mail or name")
    fields = ("trip", "created_by", *_columns)
