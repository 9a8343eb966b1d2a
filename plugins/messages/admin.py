"""Messages in the admin site."""

from typing import ClassVar

from django.contrib import admin
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.messages.models import Message


@admin.register(Message)
class MessageAdmin(ExportedAdmin):
    """Who wrote what in which trip, and whether it was deleted."""

    csv_columns = {
        **named("id", "trip_id"),
        "trip": "trip__title",
        "created_by_id": "created_by_id",
        "created_by_name": "created_by__name",
        **named("text", "reply_to_id", "created_at", "updated_at", "deleted_at"),
    }
    list_display = ("id", "created_at", "trip", "created_by", "text", "deleted_at")
    list_filter: ClassVar = [("deleted_at", admin.EmptyFieldListFilter), "created_at"]
    search_fields = ("text",)
    search_help_text = gettext_lazy("A text, a trip's title, or the author's e-mail or name")
    date_hierarchy = "created_at"
    _when = ("created_at", "updated_at", "deleted_at")
    fields = ("trip", "created_by", "text", "reply_to", "client_id", *_when)
