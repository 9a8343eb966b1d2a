"""Expenses in the admin site."""

from collections.abc import Iterator
from typing import ClassVar

from django.contrib import admin
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plugins.admin_tables import table
from plugins.expense_filters.conditions import with_words
from plugins.history.report import History
from plugins.support import csv_columns
from plugins.support.admin.filters import (
    AmountFilter,
    CurrencyFilter,
    PaidFilter,
    ParticipantFilter,
    PayerFilter,
    TagFilter,
    TripFilter,
)
from plugins.support.admin.ledger import AMOUNT, LedgerAdmin, journal_table
from splits.models import Expense, Split
from tripcompanion.currency.formats import format_amount
from trips.admin import money_column, person
from trips.models.journal import plain_fields

admin.site.unregister(Expense)


@admin.register(Expense)
class ExpenseAdmin(LedgerAdmin):
    csv_columns = csv_columns.EXPENSES
    list_display = (AMOUNT, "description", "expense_date", "trip", "category", "created_by")
    list_display_links = ("description",)
    list_filter = (
        TripFilter,
        PayerFilter,
        ParticipantFilter,
        TagFilter,
        AmountFilter,
        CurrencyFilter,
        PaidFilter,
        "category",
        "split_type",
    )
    search_fields = ("trip__title",)
    search_beside: ClassVar = {"payers": "user__email"}
    search_help_text = gettext_lazy(
        "Words of a description, notes, tags or comments, a trip's title or a payer's e-mail"
    )
    date_hierarchy = "expense_date"
    readonly_fields = (
        "trip",
        *(field.name for field in plain_fields(Expense).values()),
        AMOUNT,
        "entered",
        "exchange_rate",
        "rate_source",
        "rate_day",
        "payers",
        "splits",
        "created_by",
        "created_at",
        "updated_at",
    )

    def searches(self, text: str) -> Iterator[Q]:
        yield from super().searches(text)
        yield with_words([text])

    def journal(self, row: Expense) -> str:
        history = History(row.trip, alone=True, expense_id=row.pk)
        return journal_table(history, expense_id=row.pk)

    @admin.display(description=gettext_lazy("as entered"))
    def entered(self, expense: Expense) -> str:
        return format_amount(expense.entered_minor, expense.currency)

    @admin.display(description=gettext_lazy("payers"))
    def payers(self, expense: Expense) -> str:
        amount = money_column("amount_minor", "", lambda _payer: expense.trip.currency)
        rows = expense.payers.select_related("user").order_by("id")
        return table(rows, {_("person"): person("user", ""), _("amount"): amount})

    @admin.display(description=gettext_lazy("splits"))
    def splits(self, expense: Expense) -> str:
        def currency(_split: Split) -> str:
            return expense.trip.currency

        columns = {
            _("person"): person("participant", ""),
            _("amount"): money_column("amount_minor", "", currency),
            _("paid amount"): lambda split: format_amount(
                split.state.paid_minor, expense.trip.currency
            ),
            _("paid"): lambda split: split.state.paid,
            _("paid at"): lambda split: split.state.paid_at,
        }
        return table(
            Split.objects.with_open_amounts().filter(expense=expense).order_by("id"), columns
        )
