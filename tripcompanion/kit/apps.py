"""App configuration."""

from django.apps import AppConfig
from django.conf import settings
from django.db.backends.signals import connection_created

from tripcompanion.kit.slow_statements import log_slow_statements


class KitConfig(AppConfig):
    name = "tripcompanion.kit"
    label = "kit"

    def ready(self) -> None:
        if settings.SLOW_STATEMENT_MS:
            connection_created.connect(log_slow_statements)
