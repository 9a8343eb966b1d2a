"""App configuration."""

from tripcompanion.plugin import Plugin


class CopyingConfig(Plugin):
    name = "plugins.copying"
