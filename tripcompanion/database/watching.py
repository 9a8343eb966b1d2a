"""The loop of commands that work until they are stopped."""

import logging
import signal
from collections.abc import Callable
from threading import Event

from django.db import InterfaceError, OperationalError, close_old_connections

logger = logging.getLogger(__name__)

#: The polling interval, and the pause after a failure.
PAUSE_SECONDS = 2
PAUSE_AFTER_FAILURE_SECONDS = 30


def ended_by_signal() -> Event:
    """An event that SIGTERM and SIGINT set, so that work in progress can be finished."""
    ended = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_signal: ended.set())
    return ended


def watch(ended: Event, work: Callable[[], bool], *, pause_seconds: float = PAUSE_SECONDS) -> None:
    """Call `work` again and again until `ended` is set; it returns whether it succeeded.

    A database that is unavailable is a failure, after which the pause is longer.
    """
    while not ended.is_set():
        close_old_connections()
        try:
            is_well = work()
        except (OperationalError, InterfaceError) as error:
            logger.error("The database is unavailable", exc_info=error)
            is_well = False
        ended.wait(pause_seconds if is_well else PAUSE_AFTER_FAILURE_SECONDS)
