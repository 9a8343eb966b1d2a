"""The journal, deleted entries, and runs of the audit in the admin site."""

from django.contrib import admin
from django.utils.translation import gettext_lazy

from splits import csv_columns
from splits.admin.ledger import LedgerAdmin
from splits.models import AuditRun, DeletedEntry
from splits.reports.history import History
from tripcompanion.adminsite.base import ReadOnlyAdmin, link
from trips import csv_columns as trip_columns
from trips.admin import money_column
from trips.models import JournalEntry, Trip

DELETED_AMOUNT = money_column(
    "amount_minor", gettext_lazy("amount"), lambda entry: entry.currency, ordering=None
)


@admin.register(DeletedEntry)
class DeletedEntryAdmin(LedgerAdmin):
    """Deleted expenses and settlements that can be restored, through the API."""

    csv_columns = csv_columns.DELETED_ENTRIES
    list_display = (DELETED_AMOUNT, "what", "kind", "number", "deleted_at", "trip", "id")
    list_display_links = ("deleted_at", "id")
    list_filter = ("kind",)
    list_select_related = ("trip",)
    search_fields = ("trip__title",)
    search_help_text = gettext_lazy("A trip's title")
    date_hierarchy = "deleted_at"
    readonly_fields = ("trip", "kind", "number", "what", DELETED_AMOUNT, "deleted_at")

    @admin.display(description=gettext_lazy("object"), ordering="object_id")
    def number(self, entry: DeletedEntry) -> str:
        return f"#{entry.object_id}"

    @admin.display(description=gettext_lazy("description"))
    def what(self, entry: DeletedEntry) -> str:
        return entry.row.get("description") or entry.row.get("note") or "-"


@admin.register(AuditRun)
class AuditRunAdmin(ReadOnlyAdmin):
    csv_columns = csv_columns.AUDITS
    list_display = ("finished_at", "is_clean", "difference_count", "trip_count", "started_at")
    ordering = ("-id",)
    fields = (*list_display, "report")

    @admin.display(description=gettext_lazy("no difference"), boolean=True)
    def is_clean(self, run: AuditRun) -> bool:
        return run.difference_count == 0


@admin.register(JournalEntry)
class JournalAdmin(ReadOnlyAdmin):
    """The journal of all trips, including deleted ones."""

    csv_columns = trip_columns.JOURNAL
    list_display = ("number", "at", "trip_number", "event", "author", "via")
    list_filter = ("event", "via")
    list_select_related = ("by",)
    search_fields = ("by__email", "by__name")
    search_help_text = gettext_lazy("The e-mail or name of who did it")
    ordering = ("-id",)
    fields = (*list_display, "sentence")

    # A link would need the trip, which may be gone.
    @admin.display(description=gettext_lazy("trip"), ordering="trip_id")
    def trip_number(self, row: JournalEntry) -> str:
        return f"#{row.trip_id}"

    @admin.display(description=gettext_lazy("by"), ordering="by__name")
    def author(self, row: JournalEntry) -> str:
        return link(row.by, row.by.shown_name) if row.by else "-"

    @admin.display(description=gettext_lazy("what"))
    def sentence(self, row: JournalEntry) -> str:
        trip = Trip.objects.filter(pk=row.trip_id).first() or Trip(pk=row.trip_id, currency="")
        [sentence], _count = History(trip, number=row.number).page(1, 0)
        return sentence.text
