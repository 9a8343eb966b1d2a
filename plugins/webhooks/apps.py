"""App configuration."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Outdated, PersonalList, Plugin, until


class WebhooksConfig(Plugin):
    name = "plugins.webhooks"
    verbose_name = gettext_lazy("Webhooks")
    requires = ("plugins.history",)
    watchers = ("deliver_webhooks",)

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.webhooks.models import WebhookDelivery

        old = until(month_ago, WebhookDelivery, "created_at")
        yield "webhook deliveries", [old.exclude(state="waiting")]

    def forget(self, account: Any, by: Any) -> None:
        from plugins.webhooks.models import Webhook

        Webhook.objects.filter(user=account).remove()

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.webhooks.serializers import ExportedWebhook

        yield PersonalList(
            "webhooks",
            ExportedWebhook,
            "The webhooks that they registered.",
            lambda user: user.webhooks.order_by("id"),
        )
