"""App configuration."""

from collections.abc import Mapping
from typing import Any

from tripcompanion.plugin import Plugin


class ExpenseFiltersConfig(Plugin):
    name = "plugins.expense_filters"

    def expense_filters(self) -> Mapping[str, Any]:
        from plugins.expense_filters.filters import FILTERS

        return FILTERS
