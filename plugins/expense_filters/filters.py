"""The filters, by their parameters."""

from collections.abc import Mapping
from decimal import Decimal
from functools import reduce
from typing import Any

import django_filters
from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field

from plugins.expense_filters.conditions import amount_between, is_open_in, tagged, with_words
from splits.forms import ApiFormField, one_of
from splits.models import Expense
from splits.models.tag import MAX_TAG_CHARS, MAX_TAGS
from tripcompanion.api.serializers import ExactNumber
from tripcompanion.currency.amounts import CODES, MAX_AMOUNT

Rows = QuerySet[Expense]


class _AmountFormField(ApiFormField):
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
        super().__init__(*args, choices=choices, error_messages=one_of(words), **kwargs)


class PaidFilter(TrueOrFalse):
    def filter(self, qs: Rows, value: str) -> Rows:
        if not value:
            return qs
        return qs.alias(is_open=is_open_in(self.parent.trip_id)).filter(is_open=value == "false")


class SearchFilter(django_filters.CharFilter):
    """Words, in the expenses of the trip that is in the path."""

    def filter(self, qs: Rows, value: str) -> Rows:
        if not value:
            return qs
        return qs.filter(with_words(value.split(), trip=self.parent.trip_id))


def _with_tags(rows: Rows, _name: str, tags: list[str]) -> Rows:
    return reduce(tagged, tags, rows)


def _with_amount(rows: Rows, name: str, amount: Decimal) -> Rows:
    limits = {"minAmount": (amount, MAX_AMOUNT), "maxAmount": (-MAX_AMOUNT, amount)}[name]
    return rows.filter(amount_between("amount_minor", "trip__currency", *limits))


FILTERS: Mapping[str, django_filters.Filter] = {
    "tag": TagsFilter(method=_with_tags, label="With this tag; repeated, with each of these tags."),
    "currency": django_filters.ChoiceFilter(
        choices=[(code, code) for code in CODES],
        label="Only expenses that were entered in this currency.",
        error_messages={
            "invalid_choice": gettext_lazy(
                '"%(value)s" is not the code of a currency; /api/currencies lists them all.'
            )
        },
    ),
    "minAmount": AmountFilter(method=_with_amount, label="Of at least this amount."),
    "maxAmount": AmountFilter(method=_with_amount, label="Of at most this amount."),
    "paid": PaidFilter(label="All of its splits are paid, or not."),
    "search": SearchFilter(
        max_length=255,
        label=(
            "Only expenses with each of these words in description, notes and tags, or in one of "
            "their comments, without regard to case and accents; also with parts of words."
        ),
    ),
}
