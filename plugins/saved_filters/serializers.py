"""Serializers of saved filters."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _
from rest_framework import serializers

from plugins.saved_filters.models import MAX_NAME_CHARS, MAX_QUERY_CHARS
from splits.filters import ExpenseFilter
from splits.models import Expense
from tripcompanion.api.serializers import CamelCaseSerializer, StrictText
from tripcompanion.api.unknown_names import refused_parameters


class SavedFilterRequest(CamelCaseSerializer):
    """A filter to save."""

    name = StrictText(max_length=MAX_NAME_CHARS, help_text="No other filter of the caller has it.")
    query = StrictText(
        max_length=MAX_QUERY_CHARS,
        help_text="Query parameters of `listExpenses`, such as `category=FOOD&paid=false`.",
    )

    def validate_query(self, text: str) -> str:
        return stored_query(text)


class SavedFilterSerializer(CamelCaseSerializer):
    """A saved filter."""

    id = serializers.IntegerField(help_text="The filter's id.")
    name = serializers.CharField(help_text="Its name.")
    query = serializers.CharField(help_text="The query parameters, in the order of their names.")


def stored_query(text: str) -> str:
    """A query of the list of expenses, as a saved filter has it: without empty parameters, sorted.

    Raises `ValidationError` if the list would refuse it, or ignore some of it.
    """
    sent = QueryDict(mutable=True)
    for name, value in parse_qsl(text):
        sent.appendlist(name, value)
    filters = ExpenseFilter.base_filters
    errors: Any = refused_parameters(dict(sent.lists()), filters.keys() - {"filter"}, filters)
    errors = errors or ExpenseFilter(sent, Expense.objects.none()).errors
    if errors:
        texts = [f"{name}: {text}" for name, some in errors.items() for text in some]
        raise serializers.ValidationError(texts)
    stored = urlencode(sorted(sent.lists()), doseq=True)
    if not stored or len(stored) > MAX_QUERY_CHARS:
        text = _("Must be 1 to %(max)s characters, as it is stored.") % {"max": MAX_QUERY_CHARS}
        raise serializers.ValidationError(text)
    return stored
