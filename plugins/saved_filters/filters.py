"""The parameter `filter` of the list of expenses."""

from typing import Any

import django_filters
from django.http import QueryDict
from django.utils.translation import gettext as _
from django_filters.utils import translate_validation
from rest_framework import serializers

#: Parameters that are the same as others.
_SAME = {"from": "dateFrom", "to": "dateTo", "payer": "paidBy"}


class BySavedFilter(django_filters.CharFilter):
    """Filters by a saved query, too; parameters of the request replace its own."""

    def __init__(self) -> None:
        label = (
            "The name or id of a filter that the caller saved; other parameters replace its own, "
            "also empty ones."
        )
        super().__init__(label=label)

    def filter(self, qs: Any, value: str) -> Any:
        """What the query finds with the parameters of the request; without `value`, `qs`."""
        if not value:
            return qs
        request, sent = self.parent.request, self.parent.data
        data = sent.copy()
        del data["filter"]
        replaced = {_SAME.get(name, name) for name in sent}
        for name, values in QueryDict(_saved_query(request.user, value)).lists():
            if _SAME.get(name, name) not in replaced:
                data.setlist(name, values)
        both = type(self.parent)(data, self.parent.queryset, request=request)
        if not both.is_valid():
            raise translate_validation(both.errors)
        return both.qs


def _saved_query(user: Any, called: str) -> str:
    """The query of this name or id; a name wins. Raises `ValidationError`."""
    rows = user.saved_filters.all()
    # Compared here: a database refuses some texts.
    queries = {str(row.pk): row.query for row in rows}
    query = (queries | {row.name: row.query for row in rows}).get(called)
    if query is None:
        text = _("You have no saved filter with this name or id.")
        raise serializers.ValidationError({"filter": [text]})
    return query
