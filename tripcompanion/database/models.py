"""Tables of the service itself: stored responses, request counters, and the schema floor."""

from datetime import UTC, datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.db import connection, models
from django.utils import timezone

#: How long a key is stored.
LIFETIME = timedelta(hours=24)


class IdempotencyRecordQuerySet(models.QuerySet["IdempotencyRecord"]):
    def expired(self) -> "IdempotencyRecordQuerySet":
        """Responses whose key may be reused."""
        return self.filter(created_at__lte=timezone.now() - LIFETIME)


class IdempotencyRecord(models.Model):
    """The response to a POST with an `Idempotency-Key`, stored in the POST's transaction."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    key = models.CharField(max_length=255)
    #: SHA-256 over method, path and body, in hexadecimal digits.
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    location = models.CharField(max_length=255, blank=True, default="")
    body = models.BinaryField(default=b"")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = IdempotencyRecordQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once_per_user")
        ]

    def __str__(self) -> str:
        return f"{self.status} to {self.key}"


class ThrottleCounterQuerySet(models.QuerySet["ThrottleCounter"]):
    def expired(self) -> "ThrottleCounterQuerySet":
        """Those that nothing reads any more."""
        return self.filter(ends_at__lte=timezone.now())


class ThrottleCounter(models.Model):
    """The number of requests of one identity in one window of a limit."""

    #: Scope, window number, and a SHA-256 of the identity, so that no address is stored.
    key = models.CharField(max_length=120, primary_key=True)
    count = models.PositiveIntegerField()
    ends_at = models.DateTimeField(db_index=True)

    objects = ThrottleCounterQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.count} in {self.key}"

    @classmethod
    def add(cls, key: str, ends_at: float, count: int = 1) -> int:
        """Increase the counter of `key` and return it.

        It is kept until `ends_at`, in seconds since 1970 (UTC).

        One statement, so that no two parallel requests get the same count.
        """
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO kit_throttlecounter (key, count, ends_at) VALUES (%s, %s, %s)"
                " ON CONFLICT (key) DO UPDATE"
                " SET count = kit_throttlecounter.count + excluded.count RETURNING count",
                [key, count, datetime.fromtimestamp(ends_at, UTC)],
            )
            (taken,) = cursor.fetchone()
        return int(taken)


class SchemaFloor(models.Model):
    """A migration that a version must have to run on this database; see `schema_floor.py`."""

    app = models.CharField(max_length=255, primary_key=True)
    migration = models.CharField(max_length=255)

    def __str__(self) -> str:
        return f"{self.app}.{self.migration}"
