"""Views of the caller's webhooks."""

from functools import partial
from typing import Any, ClassVar

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
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.viewsets import ApiViewSet
from trips.throttles import LookupThrottle


class WebhookViewSet(ApiViewSet):
    """The caller's webhooks. Each is for one trip or for all trips of the caller."""

    tag = "webhooks"
    operation_ids: ClassVar = {
        "list": "listWebhooks",
        "create": "createWebhook",
        "retrieve": "getWebhook",
        "partial_update": "updateWebhook",
        "destroy": "deleteWebhook",
        "test": "testWebhook",
        "rotate_secret": "rotateWebhookSecret",
        "deliveries": "listWebhookDeliveries",
        "redeliver": "redeliverWebhookMessage",
    }
    # A stored response would contain the secret.
    safe_retries = False
    shows_secret: ClassVar = frozenset({"create"})
    accepts: ClassVar = frozenset({"test", "redeliver"})
    lists: ClassVar = frozenset({"list", "deliveries"})
    request_serializers: ClassVar = {"create": WebhookRequest, "partial_update": WebhookChange}
    response_serializer = WebhookSerializer
    response_serializers: ClassVar = {
        "create": WebhookWithSecret,
        "test": DeliverySerializer,
        "rotate_secret": WebhookWithSecret,
        "deliveries": DeliverySerializer,
        "redeliver": DeliverySerializer,
    }
    single_statement: ClassVar = frozenset({"retrieve"})
    # They look up hosts and send messages.
    throttles: ClassVar = dict.fromkeys(
        ("create", "partial_update", "test", "redeliver"), [LookupThrottle]
    )
    problems: ClassVar = {"create": [PermissionDenied, NotFound, LimitReached, AlreadyMade]}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.action == "create":
            # Not in `create`, which an `Idempotency-Key` runs in a transaction.
            require_url(self.body()["url"])

    def own(self) -> Any:
        return Webhook.objects.filter(user=self.caller)

    def list(self, request: Request) -> Response:
        """The caller's webhooks, newest first."""
        return self.page(self.own().order_by("-id"))

    def create(self, request: Request) -> Response:
        """Register an address that gets the changes of a trip, or of all trips of the caller.

        Only this response contains the secret, and a repeat with the same `Idempotency-Key` is 409
        `already_made` with the `id` of the webhook. The account is notified by mail. A webhook for
        one trip needs the role OWNER there; it gets nothing while its account does not have this
        role.
        """
        webhook = Webhook.register(self.caller, **self.body())
        return self.answer(webhook, location=f"/api/webhooks/{webhook.pk}")

    def retrieve(self, request: Request, webhook_id: int) -> Response:
        """A webhook, without its secret."""
        return self.answer(get_object_or_404(self.own(), pk=webhook_id))

    def partial_update(self, request: Request, webhook_id: int) -> Response:
        """Change the address or the events of a webhook, or turn it on or off."""
        own = partial(get_object_or_404, self.own(), pk=webhook_id)
        body = self.body(partial=True, current=own)
        return self.answer(Webhook.change(self.caller, webhook_id, **body))

    def destroy(self, request: Request, webhook_id: int) -> Response:
        """Delete a webhook, with the log of its deliveries."""
        Webhook.remove(self.caller, webhook_id)
        return self.no_content()

    def test(self, request: Request, webhook_id: int) -> Response:
        """Send a message with the event `webhook.test` soon, even if the webhook is off.

        It is sent once. The log of deliveries shows the result.
        """
        return self.answer(WebhookDelivery.test(self.caller, webhook_id))

    def rotate_secret(self, request: Request, webhook_id: int) -> Response:
        """Renew the secret, which only this response contains.

        For 24 hours, messages are signed with the previous secret, too.
        """
        return self.answer(Webhook.rotate_secret(self.caller, webhook_id))

    def deliveries(self, request: Request, webhook_id: int) -> Response:
        """The messages to a webhook, newest first. They are deleted after 30 days."""
        webhook = get_object_or_404(self.own(), pk=webhook_id)
        return self.page(webhook.deliveries.order_by("-id"))

    def redeliver(self, request: Request, webhook_id: int, delivery_id: int) -> Response:
        """Send a message once more, with the same `webhook-id` and the object as it is now.

        It is sent soon, and not retried. A message that is being retried is sent without waiting
        for the next attempt.
        """
        return self.answer(WebhookDelivery.redeliver(self.caller, webhook_id, delivery_id))
