"""What the kit has to remember: answers that were given under an idempotency key."""

from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models
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
