"""App configuration."""

from tripcompanion.plugin import Plugin


class SyncConfig(Plugin):
    name = "plugins.sync"
