"""The loop of commands that work until they are stopped."""

import logging
import signal
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from django.db import InternalError as DatabaseState

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
