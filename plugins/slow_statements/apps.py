"""App configuration."""

from django.conf import settings
from django.db.backends.signals import connection_created

from tripcompanion.plugin import Plugin


class SlowStatementsConfig(Plugin):
    name = "plugins.slow_statements"

    def ready(self) -> None:
        super().ready()
        from plugins.slow_statements.timing import log_slow_statements

        if settings.SLOW_STATEMENT_MS:
            connection_created.connect(log_slow_statements)
