"""What the admin pages of the ledger's rows have in common."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from splits.models import Settlement
from tripcompanion.kit.admin import ReadOnlyAdmin, link
from trips.admin import money_column, person

AMOUNT = money_column("amount_minor", _("amount"))
OPEN = money_column("left_minor", _("open"))
RECORDED_BY = person("created_by", _("recorded by"))


class LedgerAdmin(ReadOnlyAdmin):
    """Rows of the ledger, which belong to a trip; amounts are in its currency."""

    ordering = ("-id",)
    search_help_text = _("A person's e-mail or name, or a trip's title")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields


class InPeriodAdmin(LedgerAdmin):
    """Rows whose open amount becomes zero when their period is closed."""

    def get_queryset(self, request: HttpRequest) -> Any:
        return self.model.objects.with_open_amounts().order_by(*self.ordering)

    @admin.display(description=_("closed by settlement"))
    def closing(self, row: Any) -> str:
        return numbered_link(Settlement.objects.filter(pk=row.closed_by).first())


def numbered_link(row: Any) -> str:
    """A link to a row, labelled with its id."""
    return link(row, f"#{row.pk}") if row else "-"
