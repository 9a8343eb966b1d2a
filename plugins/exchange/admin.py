"""Imports in the admin site."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.admin_tables import StateFilter
from plugins.csv_export import named
from plugins.exchange.models import EntryKind, Import, Outcome


class ImportStateFilter(StateFilter):
    """Plans, and what was imported."""

    states: ClassVar = {
        "planned": (gettext_lazy("planned"), {"confirmed_at": None}),
        "imported": (gettext_lazy("imported"), {"confirmed_at__isnull": False, "undone_at": None}),
        "undone": (gettext_lazy("undone"), {"undone_at__isnull": False}),
    }


def _count(name: str, label: Any) -> Any:
    """An admin column for one of the counts of a plan."""

    @admin.display(description=label)
    def column(row: Import) -> int:
        return row.plan.counts[name]

    column.__name__ = f"count_{name}"
    return column


@admin.register(Import)
class ImportAdmin(ExportedAdmin):
    """Who imported what into which trip. The files and their rows are not displayed."""

    csv_columns = {
        **named("id"),
        "user_email": "user__email",
        **named("trip_id", "makes_trip", "format", "created_at", "confirmed_at", "undone_at"),
    }
    list_display = (
        *("id", "user", "trip", "format"),
        _count(EntryKind.EXPENSE, gettext_lazy("expenses")),
        _count(EntryKind.SETTLEMENT, gettext_lazy("settlements")),
        _count(Outcome.SKIPPED, gettext_lazy("skipped")),
        *("created_at", "confirmed_at", "undone_at"),
    )
    list_filter = (ImportStateFilter, "format")
    search_help_text = gettext_lazy("A person's e-mail or name, or a trip's title")
    fields = ("user", "makes_trip", *list_display[2:])

    def get_queryset(self, request: HttpRequest) -> QuerySet[Import]:
        return super().get_queryset(request).defer("file")
