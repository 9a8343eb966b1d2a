"""The messages that were sent to webhooks, or will be: each is a row until it is pruned."""

from typing import Any, ClassVar, Self
from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound

from plugins.webhooks.models.webhook import Webhook, WebhookState
from tripcompanion.plugin import MAX_EVENT_CHARS
from trips.models.events import all_events
from users.models import User

TEST_EVENT = "webhook.test"


def event_choices() -> list[tuple[str, Any]]:
    """What a message can be about."""
    return [*all_events(), (TEST_EVENT, gettext_lazy("test"))]


class DeliveryState(models.TextChoices):
    """What became of a message."""

    WAITING = "waiting", gettext_lazy("waiting")
    DELIVERED = "delivered", gettext_lazy("delivered")
    FAILED = "failed", gettext_lazy("failed")


class DeliveryError(models.TextChoices):
    """Why a message got no response."""

    NONE = "", gettext_lazy("none")
    ADDRESS = "address", gettext_lazy("host not found or not public")
    TIMEOUT = "timeout", gettext_lazy("timeout")
    TLS = "tls", gettext_lazy("invalid certificate")
    CONNECTION = "connection", gettext_lazy("no connection")
    HTTP = "http", gettext_lazy("invalid response")
    GONE = "gone", gettext_lazy("no longer visible")


class WebhookDeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def waiting(self) -> Self:
        """Messages that will be sent or retried."""
        return self.filter(state=DeliveryState.WAITING)


class WebhookDelivery(models.Model):
    """A message to a webhook. Its row is stored before the message is sent for the first time.

    So a message that is sent again after a crash has the same id, and receivers recognize it. The
    body is not stored: it shows the object as it is when the message is sent.
    """

    webhook = models.ForeignKey(
        Webhook, on_delete=models.CASCADE, db_index=False, related_name="deliveries"
    )
    #: `webhook-id` of the message.
    message_id = models.CharField(max_length=40)
    event = models.CharField(max_length=MAX_EVENT_CHARS, choices=event_choices)
    #: The row of the journal; null for a test.
    journal_trip_id = models.BigIntegerField(null=True)
    number = models.BigIntegerField(null=True)
    state = models.CharField(max_length=9, choices=DeliveryState, default=DeliveryState.WAITING)
    #: Whether it is sent once and out of order, because somebody asked for it.
    by_hand = models.BooleanField(default=False)
    attempts = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    #: The last attempt, the status of its response, and why there was none.
    last_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=10, choices=DeliveryError, blank=True, default="")
    duration_ms = models.PositiveIntegerField(null=True)

    objects = WebhookDeliveryQuerySet.as_manager()

    class Meta:
        db_table = "splits_webhookdelivery"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["webhook", "journal_trip_id", "number"], name="webhook_delivery_unique"
            )
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["webhook", "id"], condition=Q(state="waiting"), name="webhook_waiting"
            )
        ]

    def __str__(self) -> str:
        return self.message_id

    @classmethod
    def test(cls, user: User, webhook_id: int) -> "WebhookDelivery":
        """Store a message without an event, to be sent once; raises `NotFound`."""
        with Webhook.locked(user, webhook_id) as webhook:
            return cls.objects.create(
                webhook=webhook, event=TEST_EVENT, by_hand=True, message_id=new_message_id()
            )

    @classmethod
    def redeliver(cls, user: User, webhook_id: int, delivery_id: int) -> "WebhookDelivery":
        """Send a message once more, with the same id; raises `NotFound`.

        A message that is still being retried is sent now, without waiting for the end of the pause.
        """
        with Webhook.locked(user, webhook_id) as webhook:
            rows = cls.objects.filter(webhook=webhook, pk=delivery_id)
            if webhook.state == WebhookState.ON:
                by_hand = rows.exclude(state=DeliveryState.WAITING)
            else:
                by_hand = rows  # nothing is being retried
            if not by_hand.update(state=DeliveryState.WAITING, by_hand=True):
                Webhook.objects.filter(pk=webhook.pk).update(due_at=timezone.now())
            found = rows.first()
            if found is None:
                raise NotFound
            return found


def new_message_id() -> str:
    """A random id in the form of `webhook-id`."""
    return f"msg_{uuid4().hex}"
