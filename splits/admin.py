"""Expenses and settlements in the admin site, read-only."""

from django.contrib import admin
from django.utils.translation import gettext_lazy

from splits.models import Expense, Settlement
from tripcompanion.adminsite.base import ReadOnlyAdmin
from trips.admin import money_column, person

AMOUNT = money_column("amount_minor", gettext_lazy("amount"))


@admin.register(Expense)
class ExpenseAdmin(ReadOnlyAdmin):
    list_display = fields = ("description", AMOUNT, "category", "expense_date", "trip")
    list_select_related = ("trip",)
    search_fields = ("description", "trip__title")


@admin.register(Settlement)
class SettlementAdmin(ReadOnlyAdmin):
    list_display = fields = (
        "settled_on",
        person("sender", gettext_lazy("sender")),
        person("receiver", gettext_lazy("receiver")),
        AMOUNT,
        "trip",
    )
    list_select_related = ("trip", "sender", "receiver")
