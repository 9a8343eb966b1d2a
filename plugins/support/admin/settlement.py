"""Settlements, debts and their allocations in the admin site."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from plugins.admin_tables import StateFilter, formatted
from plugins.history.report import History
from plugins.support import csv_columns
from plugins.support.admin.filters import AmountFilter, TripFilter
from plugins.support.admin.ledger import AMOUNT, OPEN, LedgerAdmin, journal_table, numbered_link
from splits.models import Allocation, Debt, Expense, Settlement
from tripcompanion.adminsite.base import link
from tripcompanion.currency.formats import format_amount
from trips.admin import money_column
from trips.models.journal import plain_fields

CREDIT = money_column("credit_minor", gettext_lazy("credit"))


class SettlementState(StateFilter):
    title = gettext_lazy("origin")
    states: ClassVar = {
        "entered": (gettext_lazy("entered"), {"split": None}),
        "paid": (gettext_lazy("by paying a split"), {"split__isnull": False}),
        "credit": (gettext_lazy("with credit left"), {"credit_minor__gt": 0}),
    }


admin.site.unregister(Settlement)


@admin.register(Settlement)
class SettlementAdmin(LedgerAdmin):
    """Settlements. Credit is the part that covers no debt yet."""

    csv_columns = csv_columns.SETTLEMENTS
    list_display = (AMOUNT, "sender", "receiver", "settled_on", CREDIT, "trip", "id")
    list_display_links = ("settled_on", "id")
    list_filter = (TripFilter, AmountFilter, SettlementState)
    search_fields = ("sender__email", "receiver__email", "sender__name", "trip__title")
    date_hierarchy = "settled_on"
    readonly_fields = (
        "trip",
        "sender",
        "receiver",
        AMOUNT,
        CREDIT,
        "entered",
        "exchange_rate",
        "rate_source",
        "rate_day",
        *(field.name for field in plain_fields(Settlement).values()),
        "paid_expense",
        "created_by",
        "created_at",
    )

    def journal(self, row: Settlement) -> str:
        narrowed: Any = {"event__startswith": "settlement.", "object_id": row.pk}
        history = History(row.trip, **narrowed)
        return journal_table(history, trip__id__exact=row.trip_id, **narrowed)

    @admin.display(description=gettext_lazy("as entered"))
    def entered(self, settlement: Settlement) -> str:
        return format_amount(settlement.entered_minor, settlement.currency)

    @admin.display(description=gettext_lazy("for the split of"))
    def paid_expense(self, settlement: Settlement) -> str:
        return link(settlement.split.expense) if settlement.split else "-"


class DebtState(StateFilter):
    states: ClassVar = {
        "open": (gettext_lazy("open"), {"open_minor__gt": 0}),
        "covered": (gettext_lazy("covered"), {"open_minor": 0}),
    }


@admin.register(Debt)
class DebtAdmin(LedgerAdmin):
    """Debts: who owes whom for each split."""

    csv_columns = csv_columns.DEBTS
    list_display = (AMOUNT, OPEN, "debtor", "creditor", "trip", "expense", "covered", "id")
    list_display_links = ("id",)
    list_filter = (TripFilter, AmountFilter, DebtState)
    search_fields = ("debtor__email", "creditor__email", "debtor__name", "trip__title")
    readonly_fields = ("trip", "expense", "debtor", "creditor", AMOUNT, OPEN, "covered", "closing")

    def get_queryset(self, request: HttpRequest) -> Any:
        # Not joined: only those on the page are read. By the trip, too, so that Citus reads them
        # where they are.
        expense = Expense.objects.filter(
            trip=OuterRef("trip"), splits=OuterRef("split"), splits__trip=OuterRef("trip")
        )
        of_expense = {
            "of_expense": Subquery(expense.values("pk")),
            "expense_name": Subquery(expense.values("description")),
        }
        return super().get_queryset(request).annotate(**of_expense)

    @admin.display(description=gettext_lazy("covered at"), ordering="covered_at")
    def covered(self, debt: Any) -> str:
        return formatted(debt.covered_at)

    @admin.display(description=gettext_lazy("expense"))
    def expense(self, debt: Any) -> str:
        return link(Expense(pk=debt.of_expense, description=debt.expense_name))

    @admin.display(description=gettext_lazy("closed by settlement"))
    def closing(self, debt: Debt) -> str:
        same: Any = {"trip": debt.trip_id, "settlement__trip": debt.trip_id}
        offset = debt.allocations.filter(settlement__closing__isnull=False, **same).order_by("pk")
        closings = offset.values_list("settlement__closing", flat=True)
        return numbered_link(Settlement, closings.last())


class AllocationState(StateFilter):
    title = gettext_lazy("origin")
    states: ClassVar = {
        "covering": (gettext_lazy("settlement of a debt"), {"closed_by": None, "offset_by": None}),
        "offset": (
            gettext_lazy("debt when all balances were zero"),
            {"closed_by": None, "offset_by__isnull": False},
        ),
        "closing": (
            gettext_lazy("credit when all balances were zero"),
            {"closed_by__isnull": False},
        ),
    }


@admin.register(Allocation)
class AllocationAdmin(LedgerAdmin):
    """Which settlement, or which offset of a closing, covers which debt."""

    csv_columns = csv_columns.ALLOCATIONS
    list_display = (AMOUNT, "money", "owed", "closing", "id")
    list_display_links = ("id",)
    list_filter = (AllocationState,)
    list_select_related = ("trip",)
    search_beside: ClassVar = {"settlement": "sender__email", "debt": "debtor__email"}
    search_help_text = gettext_lazy("The e-mail of the debtor or the sender")
    readonly_fields = (AMOUNT, "money", "owed", "closing")

    def get_queryset(self, request: HttpRequest) -> Any:
        entry = Settlement.with_offsets.filter(pk=OuterRef("settlement"), trip=OuterRef("trip"))
        offset_by = {"offset_by": Subquery(entry.values("closing"))}
        return super().get_queryset(request).annotate(**offset_by)

    @admin.display(description=gettext_lazy("of settlement"))
    def money(self, allocation: Any) -> str:
        return numbered_link(Settlement, None if allocation.offset_by else allocation.settlement_id)

    @admin.display(description=gettext_lazy("for debt"))
    def owed(self, allocation: Allocation) -> str:
        return numbered_link(Debt, allocation.debt_id)

    @admin.display(description=gettext_lazy("closed by settlement"))
    def closing(self, allocation: Any) -> str:
        return numbered_link(Settlement, allocation.closed_by_id or allocation.offset_by)
