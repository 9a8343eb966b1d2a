"""App configuration."""

from tripcompanion.plugin import Plugin


class StatisticsConfig(Plugin):
    name = "plugins.statistics"
