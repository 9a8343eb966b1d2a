"""App configuration."""

from tripcompanion.plugin import Plugin


class BulkConfig(Plugin):
    name = "plugins.bulk"
