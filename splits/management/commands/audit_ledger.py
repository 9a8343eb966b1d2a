"""Recomputes the ledger, names each difference, and exits with 1 if there is one."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from splits.models.audit import audited, differences


class Command(BaseCommand):
    """Nothing is changed; to be run after a restore, by cron, and whenever a number is doubted."""

    help = "Recompute every share, debt, allocation and balance, and name each difference."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--trip", type=int, help="look at this trip only")

    def handle(self, *args: Any, trip: int | None = None, **options: Any) -> None:
        trips = audited(trip).count()
        if trip is not None and not trips:
            raise CommandError(f"There is no trip {trip}.")
        found = 0
        for difference in differences(trip):
            found += 1
            self.stderr.write(str(difference))
        if found:
            raise CommandError(f"{found} differences in {trips} trips.")
        self.stdout.write(f"{trips} trips, no difference.")
