"""`prune` deletes what was delivered a month ago."""

from datetime import timedelta
from io import StringIO

from django.core.management import call_command
from django.utils import timezone

from plugins.webhooks.models import Webhook, WebhookDelivery
from plugins.webhooks.models.delivery import DeliveryState
from plugins.webhooks.tests.hooks import URL


def test_messages_are_kept_for_a_month_and_those_that_wait_longer(olga):
    hook = Webhook.register(olga, url=URL, events=["*"])
    month_ago = timezone.now() - timedelta(days=30, minutes=1)
    for state, at in (("delivered", month_ago), ("waiting", month_ago), ("delivered", None)):
        made = hook.deliveries.create(event="webhook.test")
        rows = WebhookDelivery.objects.filter(pk=made.pk)
        rows.update(state=DeliveryState(state), created_at=at or timezone.now())
    said = StringIO()
    call_command("prune", stdout=said)
    assert "1 webhook deliveries" in said.getvalue()
    assert WebhookDelivery.objects.count() == 2
