"""Filters and orderings of the list of expenses."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from splits.models import Category, Debt, Expense, Payer, Split
from splits.models.in_trip import added_rows
from splits.models.tag import MAX_TAG_CHARS, MAX_TAGS, tagged
from tripcompanion.api.serializers import NUMBER_SCHEMA, ExactNumber, IdField, StrictDate
from tripcompanion.currency.amounts import CODES, MAX_AMOUNT
from tripcompanion.currency.formats import amount_between
from tripcompanion.database.expressions import HasWords, Lines
from tripcompanion.plugin import plugins


class _ApiFormField(forms.Field):
    """Validates as a field of a body does."""

    field: serializers.Field

    def clean(self, value: Any) -> Any:
        if not value:
            return None
        try:
            return self.field.run_validation(value)
        except serializers.ValidationError as error:
            raise forms.ValidationError([str(text) for text in error.detail]) from error


class _IdFormField(_ApiFormField):
    field = IdField()


class _DateFormField(_ApiFormField):
    widget = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    field = StrictDate()


class DayFilter(django_filters.DateFilter):
    """`YYYY-MM-DD` in ASCII digits."""

    field_class = _DateFormField


@extend_schema_field(NUMBER_SCHEMA)
class IdFilter(django_filters.Filter):
    field_class = _IdFormField


class _AmountFormField(_ApiFormField):
    field = ExactNumber(least=-MAX_AMOUNT, maximum=MAX_AMOUNT)


@extend_schema_field({"type": "number", "minimum": -int(MAX_AMOUNT), "maximum": int(MAX_AMOUNT)})
class AmountFilter(django_filters.Filter):
    """An amount in the trip's currency."""

    field_class = _AmountFormField


class _TagsFormField(forms.Field):
    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[str]:
        tags = [text.strip() for text in value or () if text.strip()]
        if len(tags) > MAX_TAGS:
            raise forms.ValidationError(_("Must be at most %(max)s.") % {"max": MAX_TAGS})
        return [forms.CharField(max_length=MAX_TAG_CHARS).clean(tag) for tag in tags]


@extend_schema_field({"type": "array", "items": {"type": "string", "maxLength": MAX_TAG_CHARS}})
class TagsFilter(django_filters.Filter):
    """A parameter that may be repeated."""

    field_class = _TagsFormField


@extend_schema_field({"type": "boolean"})
class TrueOrFalse(django_filters.ChoiceFilter):
    """`true` or `false`. Django's field accepts other words, too, and ignores unknown ones."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        words = ("true", "false")
        choices = [(word, word) for word in words]
        super().__init__(*args, choices=choices, error_messages=_one_of(words), **kwargs)


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


def with_words(words: Sequence[str], **narrowed: Any) -> Q:
    """Condition on expenses: each word is in their texts and tags, or in one row that they have.

    `narrowed` are conditions on these rows, without which PostgreSQL may read those of all trips.
    """
    found = Q(HasWords(words, "description", "notes", Lines("tags")))
    for rows in added_rows().values():
        those = rows.model.objects.filter(HasWords(words, rows.text), **_OF_EXPENSE)
        found |= Q(Exists(those.filter(**narrowed)))
    return found


def is_open() -> Exists:
    """Condition on expenses: something of one of their splits is still owed."""
    debts = Debt.objects.open().filter(trip=OuterRef("trip"), split=OuterRef("pk"))
    return Exists(Split.objects.filter(Exists(debts), **_OF_EXPENSE))


class ExpenseFilter(django_filters.FilterSet):
    dateFrom = DayFilter("expense_date", "gte", label="Only expenses on or after this date.")
    dateTo = DayFilter("expense_date", "lte", label="Only expenses on or before this date.")
    category = django_filters.ChoiceFilter(
        choices=Category.choices,
        label="Only expenses in this category.",
        error_messages=_one_of(Category.values),
    )
    paidBy = IdFilter(method="with_payer", label="This user is a payer.")
    payer = IdFilter(method="with_payer", label="This user is a payer.")
    participant = IdFilter(method="with_participant", label="This user has a split.")
    tag = TagsFilter(method="with_tags", label="With this tag; repeated, with each of these tags.")
    currency = django_filters.ChoiceFilter(
        choices=[(code, code) for code in CODES],
        label="Only expenses that were entered in this currency.",
        error_messages={
            "invalid_choice": gettext_lazy(
                '"%(value)s" is not the code of a currency; /api/currencies lists them all.'
            )
        },
    )
    minAmount = AmountFilter(method="with_amount", label="Of at least this amount.")
    maxAmount = AmountFilter(method="with_amount", label="Of at most this amount.")
    paid = TrueOrFalse(method="with_paid", label="All of its splits are paid, or not.")
    search = django_filters.CharFilter(
        method="with_text",
        max_length=255,
        label=(
            "Only expenses with each of these words in description, notes and tags, or in one of "
            "their comments, without regard to case and accents; also with parts of words."
        ),
    )
    # A keyword of Python.
    locals()["from"] = DayFilter("expense_date", "gte", label="The same as `dateFrom`.")
    to = DayFilter("expense_date", "lte", label="The same as `dateTo`.")
    ordering = ExpenseOrder(
        fields=_ORDERS,
        error_messages=_one_of(f"{sign}{name}" for name in _ORDERS.values() for sign in ("", "-")),
        label="How to order them, with `-` to reverse. Default: `-expenseDate`.",
    )
    for _app in plugins():
        locals().update(_app.expense_filters())

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
        trip_id = self.request.parser_context["kwargs"]["trip_id"]
        return rows.filter(with_words(text.split(), trip=trip_id))

    def with_tags(self, rows: QuerySet[Expense], name: str, tags: list[str]) -> QuerySet[Expense]:
        return reduce(tagged, tags, rows)

    def with_amount(self, rows: QuerySet[Expense], name: str, amount: Decimal) -> QuerySet[Expense]:
        limits = {"minAmount": (amount, MAX_AMOUNT), "maxAmount": (-MAX_AMOUNT, amount)}[name]
        return rows.filter(amount_between("amount_minor", "trip__currency", *limits))

    def with_paid(self, rows: QuerySet[Expense], name: str, word: str) -> QuerySet[Expense]:
        return rows.filter(~is_open() if word == "true" else is_open())
