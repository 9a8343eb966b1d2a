"""The loop of commands that work until they are stopped."""

import logging
import signal
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from django.db import InternalError as DatabaseState

from tripcompanion.database.turns import Turns

logger = logging.getLogger(__name__)

#: The database is unreachable, too slow, full, shutting down, or ended an idle transaction.
DATABASE_AWAY = (OperationalError, InterfaceError, DatabaseState)

#: PostgreSQL's code of a lock that was not had in time.
_LOCK_NOT_AVAILABLE = "55P03"


def is_lock_timeout(error: Exception) -> bool:
    """Whether another transaction held a lock for too long; the database itself is well."""
    return getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE


#: The polling interval, and the pause after a failure.
PAUSE_SECONDS = 2
PAUSE_AFTER_FAILURE_SECONDS = 30


def until_stopped() -> Event:
    """An event that SIGTERM or SIGINT sets."""
    ended = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_signal: ended.set())
    return ended


def watch_all(watches: Iterable[Callable[[Event], None]], ended: Event) -> None:
    """Call each in a thread, with a database connection of its own, until `ended` is set.

    After an error in one thread the others end too, and the operator's supervisor restarts all.
    """

    def serve(watch: Callable[[Event], None]) -> None:
        try:
            watch(ended)
        finally:
            ended.set()
            connection.close()

    started = list(watches)
    with ThreadPoolExecutor(len(started)) as threads:
        for served in [threads.submit(serve, watch) for watch in started]:
            served.result()


class WatchCommand(BaseCommand):
    """A command that works once or, with `--watch`, until SIGTERM or SIGINT."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--watch", action="store_true", help="keep running until SIGTERM or SIGINT"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["watch"]:
            self.work_once()
            return
        self.watch(until_stopped())

    def watch(self, ended: Event) -> None:
        """Work until `ended` is set; what is in progress is finished first.

        A database that is unavailable is a failure, after which the pause is longer.
        """
        while not ended.is_set():
            close_old_connections()
            try:
                is_well = self.work(ended.is_set)
            except DATABASE_AWAY as error:
                logger.error("The database is unavailable", exc_info=error)
                is_well = False
            ended.wait(PAUSE_SECONDS if is_well else PAUSE_AFTER_FAILURE_SECONDS)

    def work(self, is_ended: Callable[[], bool]) -> bool:
        """Do what there is to do, until `is_ended`; returns whether it succeeded."""
        raise NotImplementedError

    def work_once(self) -> None:
        raise NotImplementedError


class DueCommand(WatchCommand):
    """Works on rows that are due, one after the other. Accounts take turns.

    Several instances may run at once, so each row is locked and asked again whether it is due.
    """

    #: What to say of so many rows.
    summary: ClassVar[str]

    def due(self) -> Any:
        """The rows that are due now, as a queryset; each has `created_by` and `postpone`."""
        raise NotImplementedError

    def work_on(self, row: Any) -> bool:
        """Do what is due; returns whether it was still to be done."""
        raise NotImplementedError

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
