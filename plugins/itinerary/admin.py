"""Activities and days in the admin site."""

from typing import ClassVar

from django.contrib import admin
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.itinerary.models import Activity, ItineraryDay

_WHAT = ("title", "type", "category", "date", "start_time", "duration_minutes", "completed")
_WHEN = ("order", "created_at", "updated_at", "deleted_at")


@admin.register(Activity)
class ActivityAdmin(ExportedAdmin):
    """What is planned, and what was deleted."""

    csv_columns = named("id", "trip_id", "created_by_id", *_WHAT, *_WHEN)
    list_display = (
        *("id", "trip", "date", "title", "category", "completed", "created_by", "deleted_at"),
    )
    list_filter: ClassVar = [
        *(("deleted_at", admin.EmptyFieldListFilter), "completed", "type", "category", "date")
    ]
    search_fields = ("title",)
    search_help_text = gettext_lazy("A title, a trip's title, or a person's e-mail or name")
    fields = ("trip", "created_by", *_WHAT, "location", "url", "notes", *_WHEN)


@admin.register(ItineraryDay)
class ItineraryDayAdmin(ExportedAdmin):
    """What days are called, and which were ticked."""

    csv_columns = named("id", "trip_id", "date", "title", "is_ticked")
    list_display = fields = ("trip", "date", "title", "is_ticked")
    list_filter = ("is_ticked",)
    search_fields = ("title",)
