"""The signatures of messages to webhooks."""

import pytest
from django.utils import timezone
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from plugins.webhooks.models import Webhook
from plugins.webhooks.sending import deliver
from plugins.webhooks.tests.hooks import WEBHOOKS, record

pytestmark = pytest.mark.either


def test_messages_are_signed_with_both_secrets_for_a_day_after_a_rotation(
    api, trip, olga, receiver, hook
):
    """T167: Messages are signed, also with the former secret for a day."""
    renewed = api(olga).post(f"{WEBHOOKS}/{hook['id']}/rotate-secret").json()["secret"]
    assert renewed != hook["secret"]
    record(api, olga, trip)
    deliver()
    for secret in (renewed, hook["secret"]):
        Verifier(secret).verify(receiver.received[0].body, receiver.received[0].headers)
    Webhook.objects.update(former_until=timezone.now())
    record(api, olga, trip)
    deliver()
    last = receiver.received[-1]
    Verifier(renewed).verify(last.body, last.headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(hook["secret"]).verify(last.body, last.headers)
