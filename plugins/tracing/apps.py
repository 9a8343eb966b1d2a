"""App configuration."""

from tripcompanion.plugin import Plugin


class TracingConfig(Plugin):
    name = "plugins.tracing"
