"""The figures of the outbox for `/metrics`."""

from collections.abc import Iterator

from django.db.models import Min
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily

from users.models import Mail


def figures() -> Iterator[GaugeMetricFamily]:
    mails = GaugeMetricFamily(
        "tripcompanion_outbox_mails", "Mails that are waiting or were given up.", labels=["state"]
    )
    for state, count in Mail.objects.unsent().items():
        mails.add_metric([state], count)
    yield mails
    oldest = Mail.objects.waiting().aggregate(oldest=Min("created_at"))["oldest"]
    yield GaugeMetricFamily(
        "tripcompanion_outbox_oldest_mail_age_seconds",
        "Age of the oldest waiting mail; 0 if none is waiting.",
        value=(timezone.now() - oldest).total_seconds() if oldest else 0,
    )
