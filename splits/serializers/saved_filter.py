"""Serializers of saved filters."""

from rest_framework import serializers

from splits.models.saved_filter import MAX_NAME_CHARS, MAX_QUERY_CHARS
from tripcompanion.api.serializers import CamelCaseSerializer, StrictText


class SavedFilterRequest(CamelCaseSerializer):
    """A filter to save."""

    name = StrictText(max_length=MAX_NAME_CHARS, help_text="No other filter of the caller has it.")
    query = StrictText(
        max_length=MAX_QUERY_CHARS,
        help_text="Query parameters of `listExpenses`, such as `category=FOOD&paid=false`.",
    )


class SavedFilterSerializer(CamelCaseSerializer):
    """A saved filter."""

    id = serializers.IntegerField(help_text="The filter's id.")
    name = serializers.CharField(help_text="Its name.")
    query = serializers.CharField(help_text="The query parameters, in the order of their names.")
