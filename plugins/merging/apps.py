"""App configuration."""

from tripcompanion.plugin import Plugin


class MergingConfig(Plugin):
    name = "plugins.merging"
