"""App configuration."""

from tripcompanion.plugin import Plugin


class CitusConfig(Plugin):
    name = "plugins.citus"
