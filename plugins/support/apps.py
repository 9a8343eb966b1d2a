"""App configuration."""

from tripcompanion.plugin import Plugin


class SupportConfig(Plugin):
    name = "plugins.support"
    requires = ("plugins.history", "plugins.personal_data", "plugins.expense_filters")
