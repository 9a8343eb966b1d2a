"""The journal, deleted entries, and runs of the audit in the admin site."""

from typing import ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.admin_tables import list_link
from plugins.history.report import History
from plugins.support import csv_columns
from plugins.support.admin.filters import TripFilter
from plugins.support.admin.ledger import LedgerAdmin
from splits.models import AuditRun, DeletedEntry
from splits.models.deleted import DeletedKind
from splits.models.restoring import restore_expense, restore_settlement
from tripcompanion.adminsite.base import link
from trips.admin import caller_of, money_column
from trips.models import JournalEntry, Trip

DELETED_AMOUNT = money_column(
    "amount_minor", gettext_lazy("amount"), lambda entry: entry.currency, ordering=None
)


@admin.register(DeletedEntry)
class DeletedEntryAdmin(LedgerAdmin):
    """Deleted expenses and settlements, which an administrator can restore."""

    csv_columns = csv_columns.DELETED_ENTRIES
    list_display = (DELETED_AMOUNT, "what", "kind", "number", "deleted_at", "trip", "id")
    list_display_links = ("deleted_at", "id")
    list_filter = (TripFilter, "kind")
    search_fields = ("trip__title",)
    search_help_text = gettext_lazy("A trip's title")
    date_hierarchy = "deleted_at"
    readonly_fields = ("trip", "kind", "number", "what", DELETED_AMOUNT, "deleted_at")
    actions = ("restore",)
    row_actions: ClassVar = {"restore": gettext_lazy("Restore this entry")}

    def logged_as(self, row: DeletedEntry) -> str:
        return f"{row.kind} #{row.object_id}"

    @admin.display(description=gettext_lazy("object"), ordering="object_id")
    def number(self, entry: DeletedEntry) -> str:
        return f"#{entry.object_id}"

    @admin.display(description=gettext_lazy("description"))
    def what(self, entry: DeletedEntry) -> str:
        return entry.row.get("description") or entry.row.get("note") or "-"

    @admin.action(description=gettext_lazy("Restore these entries"))
    def restore(self, request: HttpRequest, queryset: QuerySet[DeletedEntry]) -> None:
        entries = list(queryset.order_by("trip_id", "pk"))
        for entry in entries:
            is_expense = entry.kind == DeletedKind.EXPENSE
            (restore_expense if is_expense else restore_settlement)(entry, caller_of(request))
            self.log_change(request, entry, gettext_lazy("Restored."))
        self.tell_count(request, _("Entries restored: %(count)d."), len(entries))


@admin.register(AuditRun)
class AuditRunAdmin(ExportedAdmin):
    csv_columns = csv_columns.AUDITS
    list_display = ("finished_at", "is_clean", "difference_count", "trip_count", "started_at")
    fields = (*list_display, "report")

    @admin.display(description=gettext_lazy("no difference"), boolean=True)
    def is_clean(self, run: AuditRun) -> bool:
        return run.difference_count == 0


@admin.register(JournalEntry)
class JournalAdmin(ExportedAdmin):
    """The journal of all trips, including deleted ones."""

    csv_columns = csv_columns.JOURNAL
    list_display = ("number", "at", "trip_number", "event", "author", "via")
    list_filter = (TripFilter, "event", "via")
    list_select_related = ("by",)
    search_fields = ("by__email", "by__name")
    search_help_text = gettext_lazy("The e-mail or name of who did it")
    fields = (*list_display, "sentence")

    @admin.display(description=gettext_lazy("trip"), ordering="trip_id")
    def trip_number(self, row: JournalEntry) -> str:
        """A link to the trip's journal; the trip itself may be gone."""
        return list_link(JournalEntry, f"#{row.trip_id}", trip__id__exact=row.trip_id)

    @admin.display(description=gettext_lazy("by"), ordering="by__name")
    def author(self, row: JournalEntry) -> str:
        return link(row.by, row.by.shown_name) if row.by else "-"

    @admin.display(description=gettext_lazy("what"))
    def sentence(self, row: JournalEntry) -> str:
        trip = Trip.objects.filter(pk=row.trip_id).first() or Trip(pk=row.trip_id, currency="")
        [sentence], _total = History(trip, number=row.number).page(1, 0)
        return sentence.text
