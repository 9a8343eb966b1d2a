"""App configuration."""

from tripcompanion.plugin import Plugin


class DemoConfig(Plugin):
    name = "plugins.demo"
    first_commands = (("demo", "--splitwise"),)
    requires = ("plugins.comments", "plugins.exchange", "plugins.invitations", "plugins.rates")
