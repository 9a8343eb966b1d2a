"""App configuration."""

from tripcompanion.plugin import Plugin


class PagesConfig(Plugin):
    name = "plugins.pages"
