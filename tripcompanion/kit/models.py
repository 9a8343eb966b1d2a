"""What the kit has to remember: answers given under an idempotency key, and counted requests."""

from datetime import UTC, datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.db import connection, models
from django.utils import timezone

#: For how long a key is remembered.
LIFETIME = timedelta(hours=24)


class GivenAnswerQuerySet(models.QuerySet["GivenAnswer"]):
    def expired(self) -> "GivenAnswerQuerySet":
        """Answers whose key may be used anew."""
        return self.filter(created_at__lte=timezone.now() - LIFETIME)


class GivenAnswer(models.Model):
    """The answer to one POST with an `Idempotency-Key`, written with what the POST did."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    #: SHA-256 over method, path and body, in hexadecimal digits.
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    location = models.CharField(max_length=255, blank=True, default="")
    body = models.BinaryField(default=b"")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = GivenAnswerQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "key"], name="given_answer_once_for_a_key")
        ]

    def __str__(self) -> str:
        return f"{self.status} to {self.key}"


class TallyQuerySet(models.QuerySet["Tally"]):
    def expired(self) -> "TallyQuerySet":
        """Windows that are over."""
        return self.filter(ends_at__lte=timezone.now())


class Tally(models.Model):
    """How many requests of somebody were counted in one window of a limit."""

    #: Scope, number of the window, and a SHA-256 of whom it counts: no address is stored.
    key = models.CharField(max_length=120, primary_key=True)
    count = models.PositiveIntegerField()
    ends_at = models.DateTimeField(db_index=True)

    objects = TallyQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.count} in {self.key}"

    @classmethod
    def add(cls, key: str, ends_at: float) -> int:
        """Count one more under `key`; the sum. `ends_at` is in seconds since 1970 (UTC).

        One statement, so that of any number of parallel requests no two see the same sum.
        """
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO kit_tally (key, count, ends_at) VALUES (%s, 1, %s)"
                " ON CONFLICT (key) DO UPDATE SET count = kit_tally.count + 1 RETURNING count",
                [key, datetime.fromtimestamp(ends_at, UTC)],
            )
            (count,) = cursor.fetchone()
        return int(count)
