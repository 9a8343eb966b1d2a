"""The stored results of audits of the whole ledger."""

from collections.abc import Sequence
from datetime import datetime

from django.db import models
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy

#: How many runs are kept, and how many differences of each.
KEPT_RUNS = 100
KEPT_DIFFERENCES = 50


class AuditRun(models.Model):
    """One audit of the whole ledger. The latest `KEPT_RUNS` are kept."""

    started_at = models.DateTimeField(gettext_lazy("started at"))
    finished_at = models.DateTimeField(gettext_lazy("finished at"), default=timezone.now)
    trip_count = models.PositiveIntegerField(gettext_lazy("trips checked"))
    difference_count = models.PositiveIntegerField(gettext_lazy("differences"))
    #: The first `KEPT_DIFFERENCES`, one on each line.
    report = models.TextField(gettext_lazy("first differences"), blank=True, default="")

    class Meta:
        verbose_name = gettext_lazy("ledger audit")
        verbose_name_plural = gettext_lazy("ledger audits")

    def __str__(self) -> str:
        return date_format(self.finished_at, "SHORT_DATETIME_FORMAT")

    @classmethod
    def record(
        cls, started_at: datetime, trip_count: int, differences: Sequence[object]
    ) -> "AuditRun":
        run = cls.objects.create(
            started_at=started_at,
            trip_count=trip_count,
            difference_count=len(differences),
            report="\n".join(str(difference) for difference in differences[:KEPT_DIFFERENCES]),
        )
        cls.objects.filter(pk__lte=run.pk - KEPT_RUNS).delete()
        return run
