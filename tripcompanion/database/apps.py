"""App configuration."""

from django.apps import AppConfig
from django.conf import settings
from django.db.backends.signals import connection_created

from tripcompanion.database.expressions import add_functions
from tripcompanion.observability.slow_statements import log_slow_statements


class DatabaseConfig(AppConfig):
    name = "tripcompanion.database"
    #: Of its tables and migrations, since the first release.
    label = "kit"

    def ready(self) -> None:
        connection_created.connect(add_functions)
        if settings.SLOW_STATEMENT_MS:
            connection_created.connect(log_slow_statements)
