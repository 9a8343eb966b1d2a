"""App configuration."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from tripcompanion.plugin import Plugin


class DatabaseConfig(Plugin):
    name = "tripcompanion.database"
    #: Of its tables and migrations, since the first release.
    label = "kit"

    def outdated(
        self, now: datetime, month_ago: datetime
    ) -> Iterator[tuple[str, list[QuerySet[Any]]]]:
        from tripcompanion.database.models import IdempotencyRecord, ThrottleCounter

        yield "idempotency keys", [IdempotencyRecord.objects.expired().order_by("created_at")]
        yield "throttle counters", [ThrottleCounter.objects.expired().order_by("ends_at")]
