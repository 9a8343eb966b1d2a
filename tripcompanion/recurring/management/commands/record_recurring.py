"""Records the recurring expenses that are due, once or continuously."""

import logging
from collections.abc import Callable

from tripcompanion.database.watching import WatchCommand
from tripcompanion.recurring.models import Recurrence

logger = logging.getLogger(__name__)

#: How many are looked up at a time, the longest overdue first.
BATCH = 100


class Command(WatchCommand):
    """Several instances may run at once: each date is recorded under the lock of its trip."""

    help = "Record the recurring expenses whose dates have come, also those of a time offline."

    def work(self, is_ended: Callable[[], bool]) -> bool:
        record_due(is_ended)
        return True

    def work_once(self) -> None:
        self.stdout.write(f"{record_due()} expenses recorded.")


def record_due(is_ended: Callable[[], bool] = lambda: False) -> int:
    """Record until nothing is due; returns how many expenses."""
    recorded = 0
    while batch := list(Recurrence.objects.due()[:BATCH]):
        for recurrence in batch:
            if is_ended():
                return recorded
            try:
                recorded += recurrence.record_next()
            except Exception:
                logger.exception("Recurring expense %s is postponed", recurrence)
                recurrence.postpone()
    return recorded
