"""What the admin pages of the ledger's rows have in common."""

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from typing import Any, ClassVar

from django.db.models import F, Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.text import smart_split, unescape_string_literal
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.admin_tables import SHOWN_ROWS, Columns, formatted, list_link, table
from plugins.expense_filters.conditions import amount_between
from plugins.history.report import History
from plugins.support.admin.filters import typed_amount
from tripcompanion.adminsite.base import link
from trips.admin import money_column
from trips.models import JournalEntry

AMOUNT = money_column("amount_minor", gettext_lazy("amount"))
OPEN = money_column("open_minor", gettext_lazy("open"))


class LedgerAdmin(ExportedAdmin):
    """Rows of the ledger, which belong to a trip; amounts are in its currency."""

    search_help_text = gettext_lazy("A person's e-mail or name, or a trip's title")
    #: Fields of other rows of the same trip that are searched too, by the relation to these rows.
    search_beside: ClassVar[Mapping[str, str]] = {}

    def get_search_fields(self, request: HttpRequest) -> Any:
        """Django shows the search box only if there are search fields."""
        beside = [f"{relation}__{path}" for relation, path in self.search_beside.items()]
        return [*self.search_fields, *beside]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Rows in which each word is found, in one of their fields or in a row beside them.

        A word may also be their amount, as it is displayed. Each relation has a subquery that names
        the trip, too, so that Citus joins the rows where they are.
        """
        for word in smart_split(search_term):
            is_quoted = len(word) > 1 and word[0] in "\"'" and word[0] == word[-1]
            text = unescape_string_literal(word) if is_quoted else word
            queryset = queryset.filter(reduce(or_, self.searches(text)))
        return queryset, False

    def searches(self, text: str) -> Iterator[Q]:
        for path in self.search_fields:
            yield Q((f"{path}__icontains", text))
        rows = self.model._default_manager
        for relation, path in self.search_beside.items():
            same = {f"{relation}__trip": F("trip"), f"{relation}__{path}__icontains": text}
            yield Q(pk__in=rows.filter(**same).values("pk"))
        amount = typed_amount(text)
        if amount is not None and AMOUNT in self.list_display:
            yield amount_between("amount_minor", "trip__currency", amount, amount)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields


def journal_table(history: History, **narrowed: Any) -> str:
    """The latest changes, and a link to the journal, filtered by `narrowed`."""
    rows, count = history.page(SHOWN_ROWS, 0)
    columns: Columns = {
        _("at"): lambda row: link(row, formatted(row.at)),
        _("what"): lambda row: row.text,
    }
    everything = list_link(JournalEntry, _("all %(count)d") % {"count": count}, **narrowed)
    return format_html("<div>{}<p>{}</p></div>", table(rows, columns), everything)


def numbered_link(model: type[Model], pk: int | None) -> str:
    """A link to the row with this id, labelled with it."""
    return link(model(pk=pk), f"#{pk}") if pk else "-"
