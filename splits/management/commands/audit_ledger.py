"""Recomputes the ledger, reports each difference, and exits with 1 if there is one."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone
from tqdm import tqdm

from splits.models import AuditRun
from splits.reports.audit import Difference, Trips, audited, differences
from splits.reports.changed import changed_trips, snapshot_position
from tripcompanion.database.replica import ReplicaUnusable, reading_for_long
from tripcompanion.database.snapshots import snapshot

#: Trips that are audited together with `--changed`.
_BATCH_TRIPS = 500


class Command(BaseCommand):
    """Changes nothing but the stored result, which the admin site shows.

    Run it after a restore, from cron, and when a figure seems wrong.
    """

    help = "Recompute every share, debt, allocation and balance, and report each difference."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--replica",
            action="store_true",
            help="read in DATABASE_REPLICA_URL if that can be used, else where all is written",
        )
        some = parser.add_mutually_exclusive_group()
        some.add_argument("--trip", type=int, help="audit this trip only")
        some.add_argument(
            "--changed",
            action="store_true",
            help="audit the trips that were written since the last audit without differences "
            "(PostgreSQL only; others are audited as a whole)",
        )

    def handle(
        self,
        *args: Any,
        trip: int | None = None,
        changed: bool = False,
        replica: bool = False,
        **options: Any,
    ) -> None:
        started_at = timezone.now()
        found: list[Difference] = []
        # A progress bar for each kind of row, if there is a terminal.
        watch = partial(tqdm, disable=None, leave=False)
        with ExitStack() as stack:
            if replica:
                self._read_on_replica(stack)
            stack.enter_context(snapshot())
            position = snapshot_position()
            batches, count = _batches(trip, changed)
            for difference in chain.from_iterable(differences(trips, watch) for trips in batches):
                found.append(difference)
                with tqdm.external_write_mode(file=sys.stderr):
                    self.stderr.write(str(difference))
        if trip is None:
            self._store(started_at, count, found, position)
        if found:
            raise CommandError(f"{len(found)} differences in {count} trips.")
        self.stdout.write(f"{count} trips, no difference.")

    def _read_on_replica(self, stack: ExitStack) -> None:
        """Read on the replica until the end of `stack`, if it can be used."""
        try:
            stack.enter_context(reading_for_long())
        except ReplicaUnusable as reason:
            self.stderr.write(f"The replica cannot be used ({reason}).")

    def _store(
        self, started_at: datetime, trips: int, found: list[Difference], position: int | None
    ) -> None:
        """Store the result for the admin site, unless the database cannot be written."""
        try:
            AuditRun.record(started_at, trips, found, position)
        except DatabaseError as error:
            self.stderr.write(f"The result of the audit was not stored: {error}")


def _batches(trip: int | None, changed: bool) -> tuple[Sequence[Trips], int]:
    """The batches of trips to audit, in order, and the number of trips in all of them."""
    if trip is not None and not audited(trip).exists():
        raise CommandError(f"There is no trip {trip}.")
    chosen = changed_trips() if changed else None
    if chosen is None:
        return [trip], audited(trip).count()
    firsts = range(0, len(chosen), _BATCH_TRIPS)
    return [chosen[first : first + _BATCH_TRIPS] for first in firsts], len(chosen)
