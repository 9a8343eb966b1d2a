"""App configuration."""

from collections.abc import Iterator
from typing import Any

from tripcompanion.plugin import Plugin


class MetricsConfig(Plugin):
    name = "plugins.metrics"

    def figures(self) -> Iterator[Any]:
        from plugins.metrics.figures import figures

        return figures()
