"""The route of the tools for assistants."""

from django.urls import path

from plugins.mcp.views import AssistantView

API = [path("mcp", AssistantView.as_view())]
