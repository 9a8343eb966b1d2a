"""App configuration."""

from collections.abc import Callable, Iterable
from typing import Any

from tripcompanion.plugin import AssistantTool, Plugin


class StatisticsConfig(Plugin):
    name = "plugins.statistics"
    tools = {
        "statistics": AssistantTool(
            "What a trip has cost, with the state of its budget.",
            "GET /api/trips/{trip}/statistics",
        )
    }

    def trip_boxes(self) -> Iterable[Callable[[Any], str]]:
        from plugins.statistics.admin import balances, spending

        return (balances, spending)
