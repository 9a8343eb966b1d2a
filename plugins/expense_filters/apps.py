"""App configuration."""

from collections.abc import Mapping
from typing import Any

from django.db.backends.signals import connection_created

from plugins.words import add_functions
from tripcompanion.plugin import Plugin


class ExpenseFiltersConfig(Plugin):
    name = "plugins.expense_filters"

    def ready(self) -> None:
        super().ready()
        connection_created.connect(add_functions)

    def expense_filters(self) -> Mapping[str, Any]:
        from plugins.expense_filters.filters import FILTERS

        return FILTERS
