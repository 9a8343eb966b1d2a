"""Reminds people of documents that are due soon, once or continuously."""

import logging
from collections.abc import Callable

from django.core.management.base import CommandError

from plugins.documents.models import Document
from tripcompanion.database.watching import DATABASE_AWAY, WatchCommand

logger = logging.getLogger(__name__)


class Command(WatchCommand):
    """Several instances may run at once: each reminder is queued under the lock of its trip."""

    help = "Queue mails to those who have not attached a document that is due in three days."

    def work(self, is_ended: Callable[[], bool]) -> bool:
        remind(is_ended)
        return True

    def work_once(self) -> None:
        done, postponed = remind()
        self.stdout.write(f"{done} documents done.")
        if postponed:
            raise CommandError(f"{postponed} were postponed after an error; see the log.")


def remind(is_ended: Callable[[], bool] = lambda: False) -> tuple[int, int]:
    """Remind until nothing is due; returns of how many documents, and how many were postponed."""
    done = postponed = 0
    while not is_ended() and (document := Document.objects.to_remind().first()) is not None:
        try:
            done += document.remind()
        except DATABASE_AWAY:
            raise
        except Exception:
            # No row may stop the others.
            logger.exception("The reminder of document %s is postponed", document.pk)
            document.postpone()
            postponed += 1
    return done, postponed
