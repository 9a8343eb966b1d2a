"""App configuration."""

from django.apps import apps
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate

from tripcompanion.plugin import AssistantTool, Plugin


class SearchConfig(Plugin):
    name = "plugins.search"
    tools = {
        "search_all": AssistantTool(
            "Finds texts in all trips of the caller, or in one of them, the newest first.",
            "GET /api/search",
        )
    }

    def ready(self) -> None:
        super().ready()
        from plugins.search.expressions import add_functions
        from plugins.search.indexes import make_indexes

        connection_created.connect(add_functions)
        # It is sent for each app with models, after all tables are there.
        post_migrate.connect(make_indexes, sender=apps.get_app_config("trips"))
