"""App configuration."""

from tripcompanion.plugin import AssistantTool, Plugin


class HistoryConfig(Plugin):
    name = "plugins.history"
    tools = {
        "history": AssistantTool(
            "What happened in a trip, the newest first.", "GET /api/trips/{trip}/history"
        )
    }
