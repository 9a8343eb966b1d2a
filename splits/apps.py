"""App configuration."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Outdated, Plugin, Searched, TripObject, until


class SplitsConfig(Plugin):
    name = "splits"
    verbose_name = gettext_lazy("Ledger")
    scopes = {
        "expenses:read": gettext_lazy("See expenses, settlements and balances"),
        "expenses:write": gettext_lazy("Record, change and delete expenses and settlements"),
    }

    def objects(self) -> Mapping[str, TripObject]:
        from splits.models import Expense, Settlement, Split
        from splits.serializers.expense_response import ExpenseSerializer
        from splits.serializers.settlement import SettlementSerializer
        from splits.serializers.split import ExpenseSplitSerializer

        expense = Searched(("description", "notes"), "description")
        shapes: dict[str, tuple[Any, Any, Searched | None]] = {
            "expense": (Expense, ExpenseSerializer, expense),
            "split": (Split, ExpenseSplitSerializer, None),
            "settlement": (Settlement, SettlementSerializer, Searched(("note",))),
        }
        shape = partial(TripObject, "expenses", is_compiled=True)
        return {
            kind: shape(model.objects.with_details, serializer, searched=searched)
            for kind, (model, serializer, searched) in shapes.items()
        }

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from splits.models import DeletedEntry

        days = timedelta(days=settings.DELETED_ENTRY_DAYS)
        yield "deleted entries", [until(now - days, DeletedEntry, "deleted_at")]
