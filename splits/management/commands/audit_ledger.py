"""Recomputes the ledger, reports each difference, and exits with 1 if there is one."""

import sys
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone
from tqdm import tqdm

from splits.models import AuditRun
from splits.models.closing import mend_closings
from splits.reports.audit import Difference, audited, differences
from tripcompanion.database.snapshots import snapshot
from tripcompanion.observability.progress import Progress


class Command(BaseCommand):
    """Changes nothing but the stored result, which the admin site shows; see `--mend`.

    Run it after a restore, from cron, and when a figure seems wrong.
    """

    help = "Recompute every share, debt, allocation and balance, and report each difference."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--trip", type=int, help="audit this trip only")
        parser.add_argument(
            "--mend",
            action="store_true",
            help="first give offsets to what an older release, which ran beside this, has closed",
        )

    def handle(
        self, *args: Any, trip: int | None = None, mend: bool = False, **options: Any
    ) -> None:
        for mended_id in mend_closings(trip) if mend else ():
            self.stdout.write(f"trip {mended_id}: its closings have offsets now")
        started_at = timezone.now()
        found: list[Difference] = []
        with snapshot(), Progress("Auditing", self.stderr) as progress:
            if trip is not None and not audited(trip).exists():
                raise CommandError(f"There is no trip {trip}.")
            count = audited(trip).count()
            for difference in differences(trip, progress):
                found.append(difference)
                with tqdm.external_write_mode(file=sys.stderr):
                    self.stderr.write(str(difference))
        if trip is None:
            self._store(started_at, count, found)
        if found:
            raise CommandError(f"{len(found)} differences in {count} trips.")
        self.stdout.write(f"{count} trips, no difference.")

    def _store(self, started_at: datetime, trips: int, found: list[Difference]) -> None:
        """Store the result for the admin site, unless the database cannot be written."""
        try:
            AuditRun.record(started_at, trips, found)
        except DatabaseError as error:
            self.stderr.write(f"The result of the audit was not stored: {error}")
