"""What plugins share in the admin site: tables of related rows, and filters by state."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.utils import display_for_value
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tripcompanion.adminsite.base import page_url

#: How many related rows of each kind a page shows; a link leads to the rest.
SHOWN_ROWS = 20

Columns = Mapping[Any, Callable[[Any], Any]]


def table(rows: Iterable[Any], columns: Columns) -> str:
    """A read-only table of rows. `columns` maps each heading to a function of a row.

    A function with the attribute `is_amount` is a column of amounts.
    """
    kinds = ["amount" if getattr(of, "is_amount", False) else "" for of in columns.values()]
    lines = []
    for row in rows:
        values = [question(row) for question in columns.values()]
        cells = zip(kinds, map(formatted, values), strict=True)
        lines.append((format_html_join("", '<td class="{}">{}</td>', cells),))
    heads = zip(kinds, columns, strict=True)
    return format_html(
        '<div class="rows"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>',
        format_html_join("", '<th scope="col" class="{}">{}</th>', heads),
        format_html_join("", "<tr>{}</tr>", lines),
    )


def formatted(value: Any) -> Any:
    """A value in a table of rows; dates are short, because such a table is narrow."""
    if isinstance(value, datetime):
        return date_format(timezone.localtime(value), "SHORT_DATETIME_FORMAT")
    if isinstance(value, date):
        return date_format(value, "SHORT_DATE_FORMAT")
    return display_for_value(value, "-", isinstance(value, bool))


def first_rows(rows: QuerySet, columns: Columns, **narrowed: Any) -> str:
    """A table of the first of `rows`, and a link to their list, filtered by `narrowed`."""
    label = _("all %(count)d") % {"count": rows.count()}
    first = table(rows[:SHOWN_ROWS], columns)
    return format_html("<div>{}<p>{}</p></div>", first, list_link(rows.model, label, **narrowed))


def list_link(model: type[Model], label: Any, **rows: Any) -> str:
    """A link to the list of `model`, filtered by `rows`."""
    url = page_url(model, "changelist", **rows)
    return format_html('<a href="{}">{}</a>', url, label)


class StateFilter(admin.SimpleListFilter):
    """Filters rows by state: `states` maps the URL's value to a label and to conditions."""

    title = gettext_lazy("state")
    parameter_name = "state"
    states: ClassVar[dict[str, tuple[Any, dict[str, Any]]]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(word, label) for word, (label, _conditions) in self.states.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        _label, conditions = self.states.get(self.value() or "", ("", {}))
        return queryset.filter(**conditions)
