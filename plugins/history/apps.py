"""App configuration."""

from collections.abc import Mapping

from tripcompanion.plugin import AssistantTool, Plugin


class HistoryConfig(Plugin):
    name = "plugins.history"

    def tools(self) -> Mapping[str, AssistantTool]:
        text = "What happened in a trip, the newest first."
        return {"history": AssistantTool(text, "GET", "/api/trips/{trip}/history")}
