"""What a list of expenses can be narrowed by, and how it can be ordered."""

import re
from typing import Any

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from splits.models import Category, Expense, Payer, Split
from tripcompanion.kit.paths import MAX_ID


class _IdFormField(forms.CharField):
    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 19 and 0 < int(text) <= MAX_ID):
            raise forms.ValidationError(_("Must be an identifier: a whole number from 1."))
        return int(text)


class _DateFormField(forms.DateField):
    def clean(self, value: Any) -> Any:
        # Django's own field reads the dates of every language and script.
        if value and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise forms.ValidationError(_("Must be a date: YYYY-MM-DD."))
        return super().clean(value)


class DayFilter(django_filters.DateFilter):
    """`YYYY-MM-DD` in ASCII digits."""

    field_class = _DateFormField


@extend_schema_field(OpenApiTypes.INT64)
class IdFilter(django_filters.Filter):
    field_class = _IdFormField


class _OrderFormField(django_filters.fields.BaseCSVField):
    """Column names between commas; nothing between two of them is no name."""

    def clean(self, value: Any) -> Any:
        names = super().clean(value)
        if names and not all(names):
            raise forms.ValidationError(
                _("Must be names separated by commas, without an empty one.")
            )
        return names


class ExpenseOrder(django_filters.OrderingFilter):
    """By one column, the newest or largest first with `-`; ties by id, so that pages are stable."""

    base_field_class = _OrderFormField

    def filter(self, qs: QuerySet[Expense], value: list[str] | None) -> QuerySet[Expense]:
        ordering = [self.get_ordering_value(name) for name in value or ["-expenseDate"]]
        return qs.order_by(*ordering, "-id" if ordering[-1].startswith("-") else "id")


class ExpenseFilter(django_filters.FilterSet):
    """Query parameters of the list of expenses."""

    dateFrom = DayFilter("expense_date", "gte", label="From this day on.")
    dateTo = DayFilter("expense_date", "lte", label="Up to and with this day.")
    category = django_filters.ChoiceFilter(choices=Category.choices, label="Of this category.")
    paidBy = IdFilter(method="with_payer", label="This user put money in.")
    participant = IdFilter(method="with_participant", label="This user has a split.")
    search = django_filters.CharFilter(
        method="with_text", max_length=255, label="In description or notes, in any case."
    )
    ordering = ExpenseOrder(
        fields={
            "expense_date": "expenseDate",
            "amount_minor": "amount",
            "created_at": "createdAt",
        }
    )

    class Meta:
        model = Expense
        fields: tuple[str, ...] = ()

    def with_payer(self, rows: QuerySet[Expense], name: str, user_id: int) -> QuerySet[Expense]:
        return rows.filter(Exists(Payer.objects.filter(expense=OuterRef("pk"), user=user_id)))

    def with_participant(
        self, rows: QuerySet[Expense], name: str, user_id: int
    ) -> QuerySet[Expense]:
        splits = Split.objects.filter(expense=OuterRef("pk"), participant=user_id)
        return rows.filter(Exists(splits))

    def with_text(self, rows: QuerySet[Expense], name: str, text: str) -> QuerySet[Expense]:
        return rows.filter(Q(description__icontains=text) | Q(notes__icontains=text))
