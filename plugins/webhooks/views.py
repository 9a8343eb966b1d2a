"""Views of the caller's webhooks."""

from functools import partial
from typing import Any

from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.webhooks.models.delivery import WebhookDelivery
from plugins.webhooks.models.webhook import Webhook, require_url
from plugins.webhooks.serializers import (
    DeliverySerializer,
    WebhookChange,
    WebhookRequest,
    WebhookSerializer,
    WebhookWithSecret,
)
from tripcompanion.api.idempotency import AlreadyMade
from tripcompanion.api.operations import operation
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.viewsets import ApiViewSet
from trips.throttles import LookupThrottle


class WebhookViewSet(ApiViewSet):
    """The caller's webhooks. Each is for one trip or for all trips of the caller.

    `LookupThrottle` counts what looks up a host or sends a message.
    """

    tag = "webhooks"
    # A stored response would contain the secret.
    safe_retries = False
    response_serializer = WebhookSerializer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.action == "create":
            # Not in `create`, which an `Idempotency-Key` runs in a transaction.
            require_url(self.body()["url"])

    def own(self) -> Any:
        return Webhook.objects.filter(user=self.caller)

    @operation("listWebhooks")
    def list(self, request: Request) -> Response:
        """The caller's webhooks, newest first."""
        return self.page(self.own().order_by("-id"))

    @operation(
        "createWebhook",
        takes=WebhookRequest,
        answers=WebhookWithSecret,
        shows_secret=True,
        problems=[PermissionDenied, NotFound, LimitReached, AlreadyMade],
        throttles=[LookupThrottle],
    )
    def create(self, request: Request) -> Response:
        """Register an address that gets the changes of a trip, or of all trips of the caller.

        Only this response contains the secret, and a repeat with the same `Idempotency-Key` is 409
        `already_made` with the `id` of the webhook. The account is notified by mail. A webhook for
        one trip needs the role OWNER there; it gets nothing while its account does not have this
        role.
        """
        webhook = Webhook.register(self.caller, **self.body())
        return self.answer(webhook, location=f"/api/webhooks/{webhook.pk}")

    @operation("getWebhook", single_statement=True)
    def retrieve(self, request: Request, webhook_id: int) -> Response:
        """A webhook, without its secret."""
        return self.answer(get_object_or_404(self.own(), pk=webhook_id))

    @operation("updateWebhook", takes=WebhookChange, throttles=[LookupThrottle])
    def partial_update(self, request: Request, webhook_id: int) -> Response:
        """Change the address or the events of a webhook, or turn it on or off."""
        own = partial(get_object_or_404, self.own(), pk=webhook_id)
        body = self.body(partial=True, current=own)
        return self.answer(Webhook.change(self.caller, webhook_id, **body))

    @operation("deleteWebhook")
    def destroy(self, request: Request, webhook_id: int) -> Response:
        """Delete a webhook, with the log of its deliveries."""
        Webhook.remove(self.caller, webhook_id)
        return self.no_content()

    @operation("testWebhook", answers=DeliverySerializer, status=202, throttles=[LookupThrottle])
    def test(self, request: Request, webhook_id: int) -> Response:
        """Send a message with the event `webhook.test` soon, even if the webhook is off.

        It is sent once. The log of deliveries shows the result.
        """
        return self.answer(WebhookDelivery.test(self.caller, webhook_id))

    @operation("rotateWebhookSecret", answers=WebhookWithSecret)
    def rotate_secret(self, request: Request, webhook_id: int) -> Response:
        """Renew the secret, which only this response contains.

        For 24 hours, messages are signed with the previous secret, too.
        """
        return self.answer(Webhook.rotate_secret(self.caller, webhook_id))

    @operation("listWebhookDeliveries", answers=DeliverySerializer, many=True)
    def deliveries(self, request: Request, webhook_id: int) -> Response:
        """The messages to a webhook, newest first. They are deleted after 30 days."""
        webhook = get_object_or_404(self.own(), pk=webhook_id)
        return self.page(webhook.deliveries.order_by("-id"))

    @operation(
        "redeliverWebhookMessage",
        answers=DeliverySerializer,
        status=202,
        throttles=[LookupThrottle],
    )
    def redeliver(self, request: Request, webhook_id: int, delivery_id: int) -> Response:
        """Send a message once more, with the same `webhook-id` and the object as it is now.

        It is sent soon, and not retried. A message that is being retried is sent without waiting
        for the next attempt.
        """
        return self.answer(WebhookDelivery.redeliver(self.caller, webhook_id, delivery_id))
