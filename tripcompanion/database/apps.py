"""App configuration."""

from datetime import datetime

from tripcompanion.plugin import Outdated, Plugin


class DatabaseConfig(Plugin):
    name = "tripcompanion.database"
    #: Of its tables and migrations, since the first release.
    label = "kit"

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from tripcompanion.database.models import IdempotencyRecord, ThrottleCounter

        yield "idempotency keys", [IdempotencyRecord.objects.expired().order_by("created_at")]
        yield "throttle counters", [ThrottleCounter.objects.expired().order_by("ends_at")]
