"""App configuration."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tripcompanion.plugin import AssistantTool, Plugin


class StatisticsConfig(Plugin):
    name = "plugins.statistics"

    def trip_boxes(self) -> Iterable[Callable[[Any], str]]:
        from plugins.statistics.admin import balances, spending

        return (balances, spending)

    def tools(self) -> Mapping[str, AssistantTool]:
        text = "What a trip has cost, with the state of its budget."
        return {"statistics": AssistantTool(text, "GET", "/api/trips/{trip}/statistics")}
