"""The figures of the outbox and of the last audit for `/metrics`."""

from collections.abc import Iterator

from django.db.models import Min
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily

from splits.models import AuditRun
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
    if audit := AuditRun.objects.last():
        yield GaugeMetricFamily(
            "tripcompanion_last_audit_timestamp_seconds",
            "When the last audit of the whole ledger ended, in seconds since 1970.",
            value=audit.finished_at.timestamp(),
        )
        yield GaugeMetricFamily(
            "tripcompanion_last_audit_differences",
            "Differences that the last audit found.",
            value=audit.difference_count,
        )
