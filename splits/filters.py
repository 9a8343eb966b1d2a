"""Filters and orderings of the list of expenses."""

import re
from collections.abc import Iterable
from typing import Any

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field

from splits.models import Category, Expense, Payer, Split
from tripcompanion.api.ids import NUMBER_SCHEMA, parse_id


class _IdFormField(forms.Field):
    def clean(self, value: Any) -> int | None:
        if not value:
            return None
        try:
            return parse_id(value)
        except ValueError as error:
            text = _("Must be an identifier: a whole number from 1.")
            raise forms.ValidationError(text) from error


class _DateFormField(forms.DateField):
    def clean(self, value: Any) -> Any:
        # Django's field accepts the date formats and digits of every language.
        if value and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise forms.ValidationError(_("Must be a date: YYYY-MM-DD."))
        return super().clean(value)


class DayFilter(django_filters.DateFilter):
    """`YYYY-MM-DD` in ASCII digits."""

    field_class = _DateFormField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        widget = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
        super().__init__(*args, widget=widget, **kwargs)


@extend_schema_field(NUMBER_SCHEMA)
class IdFilter(django_filters.Filter):
    field_class = _IdFormField


class _OrderFormField(django_filters.fields.BaseCSVField):
    """Comma-separated column names; an empty name is an error."""

    def clean(self, value: Any) -> Any:
        names = super().clean(value)
        if names and not all(names):
            raise forms.ValidationError(_("Must be comma-separated names, none of them empty."))
        return names


def _one_of(names: Iterable[str]) -> dict[str, Any]:
    """The error message of a form field with these choices."""
    text = gettext_lazy('"%(value)s" is not a valid choice. Choose one of: {choices}.')
    return {"invalid_choice": format_lazy(text, choices=", ".join(names))}


#: By the trip, too, so that Citus joins them where they are.
_OF_EXPENSE = {"trip": OuterRef("trip"), "expense": OuterRef("pk")}

#: The columns to order by, and their names in the query.
_ORDERS = {"expense_date": "expenseDate", "amount_minor": "amount", "created_at": "createdAt"}


class ExpenseOrder(django_filters.OrderingFilter):
    """Orders by column, descending with `-`; ties by id, so that pages are stable."""

    base_field_class = _OrderFormField

    def filter(self, qs: QuerySet[Expense], value: list[str] | None) -> QuerySet[Expense]:
        ordering = [self.get_ordering_value(name) for name in value or ["-expenseDate"]]
        return qs.order_by(*ordering, "-id" if ordering[-1].startswith("-") else "id")


class ExpenseFilter(django_filters.FilterSet):
    """The query parameters of the list of expenses."""

    dateFrom = DayFilter("expense_date", "gte", label="Only expenses on or after this date.")
    dateTo = DayFilter("expense_date", "lte", label="Only expenses on or before this date.")
    category = django_filters.ChoiceFilter(
        choices=Category.choices,
        label="Only expenses in this category.",
        error_messages=_one_of(Category.values),
    )
    paidBy = IdFilter(method="with_payer", label="This user is a payer.")
    participant = IdFilter(method="with_participant", label="This user has a split.")
    search = django_filters.CharFilter(
        method="with_text",
        max_length=255,
        label="Only expenses with this text in the description or notes, in any case.",
    )
    ordering = ExpenseOrder(
        fields=_ORDERS,
        error_messages=_one_of(f"{sign}{name}" for name in _ORDERS.values() for sign in ("", "-")),
        label="How to order them, with `-` to reverse. Default: `-expenseDate`.",
    )

    class Meta:
        model = Expense
        fields: tuple[str, ...] = ()

    def with_payer(self, rows: QuerySet[Expense], name: str, user_id: int) -> QuerySet[Expense]:
        payers = Payer.objects.filter(**_OF_EXPENSE, user=user_id)
        return rows.filter(Exists(payers))

    def with_participant(
        self, rows: QuerySet[Expense], name: str, user_id: int
    ) -> QuerySet[Expense]:
        splits = Split.objects.filter(**_OF_EXPENSE, participant=user_id)
        return rows.filter(Exists(splits))

    def with_text(self, rows: QuerySet[Expense], name: str, text: str) -> QuerySet[Expense]:
        return rows.filter(Q(description__icontains=text) | Q(notes__icontains=text))
