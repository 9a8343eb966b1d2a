"""Rows of trips with something to do at a time, and the loop of commands that do it."""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, ClassVar

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone
from rest_framework.exceptions import NotFound

from tripcompanion.database.turns import Turns
from tripcompanion.database.watching import DATABASE_AWAY, WatchCommand
from trips.models import lock_trip

logger = logging.getLogger(__name__)
#: When a row that met an unexpected error is due again.
RETRY_AFTER = timedelta(minutes=10)


class Due:
    """Base of a model whose rows are due at the time in `due_column`; null is never.

    It has a `trip` and `created_by`, its manager has `due`: the rows that are due now, the one that
    waits longest first. Under the lock of the trip, `do_what_is_due` does it, so that the row is
    not due any more, and returns whether it could be done.
    """

    due_column: ClassVar[str]

    def do_if_due(self: Any) -> bool:
        """Do what is due once, however many workers there are; returns whether this one did."""
        with suppress(NotFound), transaction.atomic():
            trip = lock_trip(self.trip_id)
            row = type(self).objects.due().filter(trip=trip, pk=self.pk).first()
            if row is not None:
                row.trip = trip
                return bool(row.do_what_is_due())
        # It is done, or the trip has just been deleted.
        return False

    def postpone(self: Any) -> None:
        """Try again later, unless the row was changed meanwhile."""
        at = {self.due_column: getattr(self, self.due_column)}
        later = {self.due_column: timezone.now() + RETRY_AFTER}
        type(self).objects.filter(pk=self.pk, **at).update(**later)


class DueCommand(WatchCommand):
    """Works on rows that are due, one after the other. Accounts take turns."""

    #: What to say of so many rows.
    summary: ClassVar[str]
    #: A model that is `Due`.
    model: ClassVar[Any]

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
        while not is_ended() and (row := turns.next(self.model.objects.due())) is not None:
            try:
                done += row.do_if_due()
            except DATABASE_AWAY:
                raise
            except Exception:
                # No row may stop the others.
                logger.exception("The %s %s is postponed", row._meta.verbose_name, row.pk)
                row.postpone()
                postponed += 1
        return done, postponed
