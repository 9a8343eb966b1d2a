"""App configuration."""

from tripcompanion.plugin import Plugin


class AssistantConfig(Plugin):
    name = "plugins.mcp"
    requires = ("plugins.expense_filters",)
