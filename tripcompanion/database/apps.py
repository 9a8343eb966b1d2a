"""App configuration."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.backends.signals import connection_created
from django.db.models import QuerySet

from tripcompanion.database.expressions import add_functions
from tripcompanion.observability.slow_statements import log_slow_statements
from tripcompanion.plugin import Plugin


class DatabaseConfig(Plugin):
    name = "tripcompanion.database"
    #: Of its tables and migrations, since the first release.
    label = "kit"

    def ready(self) -> None:
        super().ready()
        connection_created.connect(add_functions)
        if settings.SLOW_STATEMENT_MS:
            connection_created.connect(log_slow_statements)

    def outdated(
        self, now: datetime, month_ago: datetime
    ) -> Iterator[tuple[str, list[QuerySet[Any]]]]:
        from tripcompanion.database.models import IdempotencyRecord, ThrottleCounter

        yield "idempotency keys", [IdempotencyRecord.objects.expired().order_by("created_at")]
        yield "throttle counters", [ThrottleCounter.objects.expired().order_by("ends_at")]
