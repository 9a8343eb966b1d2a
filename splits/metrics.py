"""The figures of the last audit for `/metrics`."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily

from splits.models import AuditRun


def figures() -> Iterator[GaugeMetricFamily]:
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
