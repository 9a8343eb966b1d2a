"""Records the recurring expenses that are due, once or continuously."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand

from tripcompanion.database.watching import ended_by_signal, watch
from tripcompanion.recurring.models import Recurrence

#: How many are looked up at a time, the longest overdue first.
BATCH = 100


class Command(BaseCommand):
    """Several instances may run at once: each date is recorded under the lock of its trip."""

    help = "Record the recurring expenses whose dates have come, also those of a time offline."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--watch", action="store_true", help="keep running until SIGTERM or SIGINT"
        )

    def handle(self, *args: Any, watch: bool = False, **options: Any) -> None:
        if watch:
            _watch()
            return
        self.stdout.write(f"{record_due()} expenses recorded.")


def record_due(is_ended: Callable[[], bool] = lambda: False) -> int:
    """Record until nothing is due; returns how many expenses."""
    recorded = 0
    while batch := list(Recurrence.objects.due()[:BATCH]):
        for recurrence in batch:
            if is_ended():
                return recorded
            recorded += recurrence.record_next()
    return recorded


def _watch() -> None:
    """Record until SIGTERM or SIGINT; finish the current expense first."""
    ended = ended_by_signal()

    def work() -> bool:
        record_due(ended.is_set)
        return True

    watch(ended, work)
