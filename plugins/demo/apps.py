"""App configuration."""

from tripcompanion.plugin import Plugin


class DemoConfig(Plugin):
    name = "plugins.demo"
    requires = ("plugins.comments", "plugins.exchange", "plugins.invitations", "plugins.rates")
