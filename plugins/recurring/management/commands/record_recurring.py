"""Records the recurring expenses that are due, once or continuously."""

import logging
from collections.abc import Callable

from django.core.management.base import CommandError

from plugins.recurring.models import Recurrence
from tripcompanion.database.turns import Turns
from tripcompanion.database.watching import DATABASE_AWAY, WatchCommand

logger = logging.getLogger(__name__)


class Command(WatchCommand):
    """Several instances may run at once: each date is recorded under the lock of its trip."""

    help = "Record the recurring expenses whose dates have come, also those of a time offline."

    def work(self, is_ended: Callable[[], bool]) -> bool:
        record_due(is_ended)
        return True

    def work_once(self) -> None:
        recorded, postponed = record_due()
        self.stdout.write(f"{recorded} expenses recorded.")
        if postponed:
            raise CommandError(f"{postponed} were postponed after an error; see the log.")


def record_due(is_ended: Callable[[], bool] = lambda: False) -> tuple[int, int]:
    """Record until nothing is due; returns how many expenses, and how many were postponed.

    Accounts take turns.
    """
    recorded, postponed, turns = 0, 0, Turns("created_by_id")
    while not is_ended() and (recurrence := turns.next(Recurrence.objects.due())) is not None:
        try:
            recorded += recurrence.record_next()
        except DATABASE_AWAY:
            raise
        except Exception:
            # No row may stop the others.
            logger.exception("Recurring expense %s is postponed", recurrence)
            recurrence.postpone()
            postponed += 1
    return recorded, postponed
