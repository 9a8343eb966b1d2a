"""App configuration."""

from tripcompanion.plugin import Plugin


class TagsConfig(Plugin):
    name = "plugins.tags"
    requires = ("plugins.expense_filters",)
