"""Filters and orderings of the list of expenses."""

from typing import Any

import django_filters
from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field

from splits.forms import ApiFormField, one_of
from splits.models import Category, Expense, Payer, Split
from splits.models.in_trip import is_among
from tripcompanion.api.serializers import NUMBER_SCHEMA, IdField, StrictDate
from tripcompanion.plugin import plugins


class _IdFormField(ApiFormField):
    field = IdField()


class _DateFormField(ApiFormField):
    widget = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    field = StrictDate()


class DayFilter(django_filters.DateFilter):
    """`YYYY-MM-DD` in ASCII digits."""

    field_class = _DateFormField


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


#: The columns to order by, and their names in the query.
_ORDERS = {"expense_date": "expenseDate", "amount_minor": "amount", "created_at": "createdAt"}


class ExpenseOrder(django_filters.OrderingFilter):
    """Orders by column, descending with `-`; ties by id, so that pages are stable."""

    base_field_class = _OrderFormField

    def filter(self, qs: QuerySet[Expense], value: list[str] | None) -> QuerySet[Expense]:
        ordering = [self.get_ordering_value(name) for name in value or ["-expenseDate"]]
        return qs.order_by(*ordering, "-id" if ordering[-1].startswith("-") else "id")


class ExpenseFilter(django_filters.FilterSet):
    dateFrom = DayFilter("expense_date", "gte", label="Only expenses on or after this date.")
    dateTo = DayFilter("expense_date", "lte", label="Only expenses on or before this date.")
    category = django_filters.ChoiceFilter(
        choices=Category.choices,
        label="Only expenses in this category.",
        error_messages=one_of(Category.values),
    )
    paidBy = IdFilter(method="of_person", label="This user is a payer.")
    payer = IdFilter(method="of_person", label="This user is a payer.")
    participant = IdFilter(method="of_person", label="This user has a split.")
    # A keyword of Python.
    locals()["from"] = DayFilter("expense_date", "gte", label="The same as `dateFrom`.")
    to = DayFilter("expense_date", "lte", label="The same as `dateTo`.")
    ordering = ExpenseOrder(
        fields=_ORDERS,
        error_messages=one_of(f"{sign}{name}" for name in _ORDERS.values() for sign in ("", "-")),
        label="How to order them, with `-` to reverse. Default: `-expenseDate`.",
    )
    for _app in plugins():
        locals().update(_app.expense_filters())

    class Meta:
        model = Expense
        fields: tuple[str, ...] = ()

    @property
    def trip_id(self) -> int:
        return self.request.parser_context["kwargs"]["trip_id"]

    def of_person(self, rows: QuerySet[Expense], name: str, user_id: int) -> QuerySet[Expense]:
        kind, column = (Split, "participant") if name == "participant" else (Payer, "user")
        found = kind.objects.filter(**{"trip": self.trip_id, column: user_id})
        return rows.filter(is_among(found.values("expense")))
