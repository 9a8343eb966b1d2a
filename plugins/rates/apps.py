"""App configuration."""

from tripcompanion.plugin import Plugin


class RatesConfig(Plugin):
    name = "plugins.rates"
