"""The ledger in the admin site: everything to be seen, nothing to be changed.

Money moves through the API alone, whose rules keep the books right.
"""

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from splits.models import Allocation, Debt, Expense, Payer, Rate, Settlement, Split
from trips.admin import TripAdmin, first_rows, link, money_column, person, shown_money, table
from trips.models import Trip
from users.admin import ReadOnlyAdmin, StateFilter, list_link

AMOUNT = money_column("amount_minor", _("amount"))
OPEN = money_column("left_minor", _("open"))
CREDIT = money_column("left_minor", _("credit"))
RECORDED_BY = person("created_by", _("recorded by"))
DEBTOR, CREDITOR = person("debtor", _("debtor")), person("creditor", _("creditor"))
SENDER, RECEIVER = person("sender", _("sender")), person("receiver", _("receiver"))


class LedgerAdmin(ReadOnlyAdmin):
    """Rows of the ledger, which belong to a trip and show its currency."""

    ordering = ("-id",)
    search_help_text = _("A person's e-mail or name, or a trip's title")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields


class InPeriodAdmin(LedgerAdmin):
    """Rows whose open amount is gone once their period is closed."""

    def get_queryset(self, request: HttpRequest) -> Any:
        return self.model.objects.with_state().order_by(*self.ordering)

    @admin.display(description=_("closed by settlement"))
    def closing(self, row: Any) -> str:
        return _number(Settlement.objects.filter(pk=row.closed_by).first())


@admin.register(Trip)
class TripWithExpensesAdmin(TripAdmin):
    """Trips, with what is in their books."""

    readonly_fields = (*TripAdmin.readonly_fields, "expenses", "other_lists")
    fieldsets = (
        *TripAdmin.fieldsets[:-1],
        (_("Expenses"), {"fields": ("expenses", "other_lists")}),
        *TripAdmin.fieldsets[-1:],
    )

    @admin.display(description=_("expenses"))
    def expenses(self, trip: Trip) -> str:
        columns = {
            _("date"): lambda expense: expense.expense_date,
            _("description"): link,
            _("amount"): AMOUNT,
            _("divided"): lambda expense: expense.get_split_type_display(),
            _("recorded by"): RECORDED_BY,
        }
        rows = trip.expenses.select_related("trip", "created_by").order_by("-expense_date", "-id")
        return first_rows(rows, columns, trip__id__exact=trip.pk)

    @admin.display(description=_("see also"))
    def other_lists(self, trip: Trip) -> str:
        lists = [
            (list_link(model, model._meta.verbose_name_plural, trip__id__exact=trip.pk),)
            for model in (Settlement, Debt)
        ]
        return format_html_join(" · ", "{}", lists)


@admin.register(Expense)
class ExpenseAdmin(LedgerAdmin):
    """Expenses, with who paid and who bears them."""

    list_display = ("expense_date", "description", AMOUNT, "trip", "category", RECORDED_BY)
    list_display_links = ("description",)
    list_filter = ("category", "split_type")
    list_select_related = ("trip", "created_by")
    search_fields = ("description", "trip__title", "payers__user__email")
    search_help_text = _("A description, a trip's title or the e-mail of who paid")
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
        return shown_money(expense.entered_minor, expense.currency)

    @admin.display(description=_("payers"))
    def payers(self, expense: Expense) -> str:
        def amount(payer: Payer) -> str:
            return shown_money(payer.amount_minor, expense.trip.currency)

        rows = expense.payers.select_related("user").order_by("id")
        return table(rows, {_("who"): person("user", ""), _("amount"): amount})

    @admin.display(description=_("splits"))
    def splits(self, expense: Expense) -> str:
        def amount(split: Split) -> str:
            return shown_money(split.amount_minor, expense.trip.currency)

        def paid_amount(split: Split) -> str:
            return shown_money(split.paid_minor, expense.trip.currency)

        columns = {
            _("who"): person("participant", ""),
            _("amount"): amount,
            _("paid amount"): paid_amount,
            _("paid"): lambda split: split.paid,
            _("paid at"): lambda split: split.paid_at,
        }
        return table(Split.objects.with_state().filter(expense=expense).order_by("id"), columns)


class SettlementState(StateFilter):
    title = _("how it came")
    states: ClassVar = {
        "entered": (_("entered"), {"split": None}),
        "paid": (_("by paying a split"), {"split__isnull": False}),
        "credit": (_("with credit left"), {"left_minor__gt": 0}),
    }


@admin.register(Settlement)
class SettlementAdmin(InPeriodAdmin):
    """Money that was handed over. Credit is what covers no debt yet."""

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
    """Who owes whom, split by split."""

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

    @admin.display(description="covered at", ordering="covered_at")
    def covered(self, debt: Any) -> Any:
        return debt.covered_at or debt.closed_at

    @admin.display(description=_("expense"))
    def expense(self, debt: Debt) -> str:
        return link(debt.split.expense)


def _number(row: Any) -> str:
    """A link that names a row by its number."""
    return link(row, f"#{row.pk}") if row else "-"


class AllocationState(StateFilter):
    title = _("how it came")
    states: ClassVar = {
        "covering": (_("money for a debt"), {"closed_by": None}),
        "closing": (_("the trip was square"), {"closed_by__isnull": False}),
    }


@admin.register(Allocation)
class AllocationAdmin(LedgerAdmin):
    """Which money covers which debt. A closing settlement evens out what is left."""

    list_display = ("id", "amount", "money", "owed", "closing")
    list_filter = (AllocationState,)
    list_select_related = ("settlement__trip", "debt__trip", "closed_by")
    search_fields = ("settlement__sender__email", "debt__debtor__email")
    search_help_text = _("The e-mail of who owed or sent it")
    readonly_fields = ("amount", "money", "owed", "closing")

    @admin.display(description=_("amount"))
    def amount(self, allocation: Any) -> str:
        trip = (allocation.settlement or allocation.debt).trip
        return shown_money(allocation.amount_minor, trip.currency)

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
    """Exchange rates as they were loaded: how many units one euro buys."""

    list_display = ("currency", "per_euro", "day")
    search_fields = ("currency",)
    ordering = ("currency",)
