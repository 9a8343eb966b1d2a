"""The ledger in the admin site, read-only.

Only the API changes the ledger, because its rules keep it consistent.
"""

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from splits import csv_columns
from splits.models import (
    Allocation,
    AuditRun,
    Comment,
    Debt,
    DeletedEntry,
    Expense,
    Rate,
    Settlement,
    Split,
    Webhook,
)
from splits.reports.history import History
from tripcompanion.currency.formats import format_amount
from tripcompanion.kit.admin import ReadOnlyAdmin, StateFilter, link, shown, table
from trips import csv_columns as trip_columns
from trips.admin import money_column, person
from trips.models import JournalEntry, Trip

AMOUNT = money_column("amount_minor", _("amount"))
OPEN = money_column("left_minor", _("open"))
CREDIT = money_column("left_minor", _("credit"))
RECORDED_BY = person("created_by", _("recorded by"))
DEBTOR, CREDITOR = person("debtor", _("debtor")), person("creditor", _("creditor"))
SENDER, RECEIVER = person("sender", _("sender")), person("receiver", _("receiver"))


class LedgerAdmin(ReadOnlyAdmin):
    """Rows of the ledger, which belong to a trip; amounts are in its currency."""

    ordering = ("-id",)
    search_help_text = _("A person's e-mail or name, or a trip's title")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields


class InPeriodAdmin(LedgerAdmin):
    """Rows whose open amount becomes zero when their period is closed."""

    def get_queryset(self, request: HttpRequest) -> Any:
        return self.model.objects.with_open_amounts().order_by(*self.ordering)

    @admin.display(description=_("closed by settlement"))
    def closing(self, row: Any) -> str:
        return _number(Settlement.objects.filter(pk=row.closed_by).first())


@admin.register(Expense)
class ExpenseAdmin(LedgerAdmin):
    """Expenses with their payers and splits."""

    csv_columns = csv_columns.EXPENSES
    list_display = ("expense_date", "description", AMOUNT, "trip", "category", RECORDED_BY)
    list_display_links = ("description",)
    list_filter = ("category", "split_type")
    list_select_related = ("trip", "created_by")
    search_fields = ("description", "trip__title", "payers__user__email")
    search_help_text = _("A description, a trip's title or a payer's e-mail")
    date_hierarchy = "expense_date"
    readonly_fields = (
        "trip",
        "description",
        "expense_date",
        "category",
        AMOUNT,
        "entered",
        "exchange_rate",
        "rate_source",
        "rate_day",
        "split_type",
        "payers",
        "splits",
        "receipt_url",
        "notes",
        "created_by",
        "created_at",
        "updated_at",
    )

    @admin.display(description=_("as entered"))
    def entered(self, expense: Expense) -> str:
        return format_amount(expense.entered_minor, expense.currency)

    @admin.display(description=_("payers"))
    def payers(self, expense: Expense) -> str:
        amount = money_column("amount_minor", "", lambda _payer: expense.trip.currency)
        rows = expense.payers.select_related("user").order_by("id")
        return table(rows, {_("person"): person("user", ""), _("amount"): amount})

    @admin.display(description=_("splits"))
    def splits(self, expense: Expense) -> str:
        def currency(_split: Split) -> str:
            return expense.trip.currency

        columns = {
            _("person"): person("participant", ""),
            _("amount"): money_column("amount_minor", "", currency),
            _("paid amount"): money_column("paid_minor", "", currency),
            _("paid"): lambda split: split.paid,
            _("paid at"): lambda split: split.paid_at,
        }
        return table(
            Split.objects.with_open_amounts().filter(expense=expense).order_by("id"), columns
        )


@admin.register(Comment)
class CommentAdmin(LedgerAdmin):
    """Comments on expenses."""

    csv_columns = csv_columns.COMMENTS
    list_display = ("id", "created_at", person("created_by", _("written by")), "expense", "text")
    list_select_related = ("expense", "created_by")
    search_fields = ("text", "expense__description", "created_by__email", "created_by__name")
    search_help_text = _("A text, an expense, or the author's e-mail or name")
    date_hierarchy = "created_at"
    readonly_fields = ("expense", "created_by", "text", "created_at", "updated_at")


class SettlementState(StateFilter):
    title = _("origin")
    states: ClassVar = {
        "entered": (_("entered"), {"split": None}),
        "paid": (_("by paying a split"), {"split__isnull": False}),
        "credit": (_("with credit left"), {"left_minor__gt": 0}),
    }


@admin.register(Settlement)
class SettlementAdmin(InPeriodAdmin):
    """Settlements. Credit is the part that covers no debt yet."""

    csv_columns = csv_columns.SETTLEMENTS
    list_display = ("id", "settled_on", SENDER, RECEIVER, AMOUNT, CREDIT, "trip")
    list_filter = (SettlementState,)
    list_select_related = ("trip", "sender", "receiver", "created_by", "split__expense")
    search_fields = ("sender__email", "receiver__email", "sender__name", "trip__title")
    date_hierarchy = "settled_on"
    readonly_fields = (
        "trip",
        "sender",
        "receiver",
        AMOUNT,
        CREDIT,
        "settled_on",
        "note",
        "paid_expense",
        "closing",
        "created_by",
        "created_at",
    )

    @admin.display(description=_("for the split of"))
    def paid_expense(self, settlement: Settlement) -> str:
        return link(settlement.split.expense) if settlement.split else "-"


class DebtState(StateFilter):
    states: ClassVar = {
        "open": (_("open"), {"left_minor__gt": 0}),
        "covered": (_("covered"), {"left_minor": 0}),
    }


@admin.register(Debt)
class DebtAdmin(InPeriodAdmin):
    """Debts: who owes whom for each split."""

    csv_columns = csv_columns.DEBTS
    list_display = ("id", DEBTOR, CREDITOR, AMOUNT, OPEN, "trip", "expense", "covered")
    list_filter = (DebtState,)
    list_select_related = ("trip", "debtor", "creditor", "split__expense")
    search_fields = ("debtor__email", "creditor__email", "debtor__name", "trip__title")
    readonly_fields = (
        "trip",
        "expense",
        "debtor",
        "creditor",
        AMOUNT,
        OPEN,
        "covered",
        "closing",
    )

    @admin.display(description=_("covered at"), ordering="covered_at")
    def covered(self, debt: Any) -> str:
        return shown(debt.covered_at or debt.closed_at)

    @admin.display(description=_("expense"))
    def expense(self, debt: Debt) -> str:
        return link(debt.split.expense)


def _number(row: Any) -> str:
    """A link to a row, labelled with its id."""
    return link(row, f"#{row.pk}") if row else "-"


def _allocation_currency(allocation: Any) -> str:
    return (allocation.settlement or allocation.debt).trip.currency


ALLOCATED = money_column("amount_minor", _("amount"), _allocation_currency)


class AllocationState(StateFilter):
    title = _("origin")
    states: ClassVar = {
        "covering": (_("settlement of a debt"), {"closed_by": None}),
        "closing": (_("all balances were zero"), {"closed_by__isnull": False}),
    }


@admin.register(Allocation)
class AllocationAdmin(LedgerAdmin):
    """Which settlement covers which debt. A closing settlement clears what is left."""

    csv_columns = csv_columns.ALLOCATIONS
    list_display = ("id", ALLOCATED, "money", "owed", "closing")
    list_filter = (AllocationState,)
    list_select_related = (
        *("settlement__trip", "settlement__sender", "settlement__receiver"),
        *("debt__trip", "debt__debtor", "debt__creditor", "closed_by"),
    )
    search_fields = ("settlement__sender__email", "debt__debtor__email")
    search_help_text = _("The e-mail of the debtor or the sender")
    readonly_fields = (ALLOCATED, "money", "owed", "closing")

    @admin.display(description=_("of settlement"))
    def money(self, allocation: Allocation) -> str:
        return _number(allocation.settlement)

    @admin.display(description=_("for debt"))
    def owed(self, allocation: Allocation) -> str:
        return _number(allocation.debt)

    @admin.display(description=_("closed by settlement"))
    def closing(self, allocation: Allocation) -> str:
        return _number(allocation.closed_by)


@admin.register(Rate)
class RateAdmin(ReadOnlyAdmin):
    """Exchange rates as loaded: units of the currency per euro."""

    csv_columns = csv_columns.RATES
    list_display = ("currency", "per_euro", "day")
    search_fields = ("currency",)
    ordering = ("currency",)


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Webhooks and what came of their last messages. Of the URLs only the hosts are displayed."""

    csv_columns = csv_columns.WEBHOOKS
    list_display = (
        "id",
        person("user", _("user")),
        *("trip", "host", "state", "last_at", "last_status", "failing_since", "created_at"),
    )
    list_filter = ("state",)
    list_select_related = ("user", "trip")
    search_fields = ("user__email", "user__name", "trip__title")
    search_help_text = _("A person's e-mail or name, or a trip's title")
    ordering = ("-id",)
    fields = ("user", "trip", "host", "events", *list_display[4:-1], "due_at", "created_at")

    @admin.display(description=_("host"))
    def host(self, webhook: Webhook) -> str:
        return webhook.host


DELETED_AMOUNT = money_column("amount_minor", _("amount"), lambda entry: entry.currency)


@admin.register(DeletedEntry)
class DeletedEntryAdmin(LedgerAdmin):
    """Deleted expenses and settlements that can be restored, through the API."""

    csv_columns = csv_columns.DELETED_ENTRIES
    list_display = ("id", "deleted_at", "kind", "number", "what", DELETED_AMOUNT, "trip")
    list_filter = ("kind",)
    list_select_related = ("trip",)
    search_fields = ("trip__title",)
    search_help_text = _("A trip's title")
    date_hierarchy = "deleted_at"
    readonly_fields = ("trip", "kind", "number", "what", DELETED_AMOUNT, "deleted_at")

    @admin.display(description=_("object"), ordering="object_id")
    def number(self, entry: DeletedEntry) -> str:
        return f"#{entry.object_id}"

    @admin.display(description=_("description"))
    def what(self, entry: DeletedEntry) -> str:
        return entry.row.get("description") or entry.row.get("note") or "-"


@admin.register(AuditRun)
class AuditRunAdmin(ReadOnlyAdmin):
    """Audits of the whole ledger, as `manage.py audit_ledger` stored them."""

    csv_columns = csv_columns.AUDITS
    list_display = ("finished_at", "is_clean", "difference_count", "trip_count", "started_at")
    ordering = ("-id",)
    fields = (*list_display, "report")

    @admin.display(description=_("no difference"), boolean=True)
    def is_clean(self, run: AuditRun) -> bool:
        return run.difference_count == 0


@admin.register(JournalEntry)
class JournalAdmin(ReadOnlyAdmin):
    """The journal of all trips, also of those that are gone."""

    csv_columns = trip_columns.JOURNAL
    list_display = ("number", "at", "trip_number", "event", "author", "via")
    list_filter = ("event", "via")
    list_select_related = ("by",)
    search_fields = ("by__email", "by__name")
    search_help_text = _("The e-mail or name of who did it")
    ordering = ("-id",)
    fields = (*list_display, "told")

    # A link would need the trip, which may be gone.
    @admin.display(description=_("trip"), ordering="trip_id")
    def trip_number(self, row: JournalEntry) -> str:
        return f"#{row.trip_id}"

    @admin.display(description=_("by"), ordering="by__name")
    def author(self, row: JournalEntry) -> str:
        return link(row.by, row.by.shown_name) if row.by else "-"

    @admin.display(description=_("what"))
    def told(self, row: JournalEntry) -> str:
        trip = Trip.objects.filter(pk=row.trip_id).first() or Trip(pk=row.trip_id, currency="")
        [told], _count = History(trip, filters={"number": row.number}).page(1, 0)
        return told.text
