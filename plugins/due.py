"""The loop of commands that do what is due."""

import logging
from collections.abc import Callable
from typing import Any, ClassVar

from django.core.management.base import CommandError

from tripcompanion.database.turns import Turns
from tripcompanion.database.watching import DATABASE_AWAY, WatchCommand

logger = logging.getLogger(__name__)


class DueCommand(WatchCommand):
    """Works on rows that are due, one after the other. Accounts take turns.

    Several instances may run at once, so each row is locked and asked again whether it is due.
    """

    #: What to say of so many rows.
    summary: ClassVar[str]

    #: Finds the rows that are due now; each has `created_by` and `postpone`.
    due: Callable[[], Any]
    #: Does what is due of a row; returns whether it was still to be done.
    work_on: Callable[[Any], bool]

    def work(self, is_ended: Callable[[], bool]) -> bool:
        self._work_on_all(is_ended)
        return True

    def work_once(self) -> None:
        done, postponed = self._work_on_all(lambda: False)
        self.stdout.write(self.summary % done)
        if postponed:
            raise CommandError(f"{postponed} were postponed after an error; see the log.")

    def _work_on_all(self, is_ended: Callable[[], bool]) -> tuple[int, int]:
        """Work until nothing is due; returns how many rows were done, and how many postponed."""
        done, postponed, turns = 0, 0, Turns("created_by_id")
        while not is_ended() and (row := turns.next(self.due())) is not None:
            try:
                done += self.work_on(row)
            except DATABASE_AWAY:
                raise
            except Exception:
                # No row may stop the others.
                logger.exception("The %s %s is postponed", row._meta.verbose_name, row.pk)
                row.postpone()
                postponed += 1
        return done, postponed
