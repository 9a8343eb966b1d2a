"""Recurring expenses in the admin site."""

from django.contrib import admin
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.recurring.models import Recurrence


@admin.register(Recurrence)
class RecurrenceAdmin(ExportedAdmin):
    """What is recorded again and again, and why it is not."""

    csv_columns = named(
        *("id", "trip_id", "created_by_id", "rule", "time_zone", "starts_on"),
        *("state", "reason_code", "due_at", "created_at"),
    )
    list_display = (
        *("id", "trip", "created_by", "rule", "state", "reason_code", "due_at", "created_at"),
    )
    list_filter = ("state",)
    search_help_text = gettext_lazy("A person's e-mail or name, or a trip's title")
    fields = (
        *("trip", "created_by", "rule", "time_zone", "starts_on", "stored_expense"),
        *("state", "reason_code", "reason_text", "due_at", "created_at"),
    )
