"""App configuration."""

from collections.abc import Callable, Iterable
from typing import Any

from tripcompanion.plugin import Plugin


class StatisticsConfig(Plugin):
    name = "plugins.statistics"

    def trip_boxes(self) -> Iterable[Callable[[Any], str]]:
        from plugins.statistics.admin import spending

        return (spending,)
