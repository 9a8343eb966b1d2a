"""Sends the mails in the outbox, once or continuously."""

import logging
from collections.abc import Callable
from threading import Event

from django.conf import settings
from django.core.management.base import CommandError

from tripcompanion.database.watching import WatchCommand
from tripcompanion.mail.sending import deliver
from users.models import Mail

logger = logging.getLogger(__name__)

UNSET = "EMAIL_URL is not set; mails stay in the outbox."


class Command(WatchCommand):
    """Several instances may run at once: each attempt is claimed by one."""

    help = (
        "Send every mail in the outbox that is due. Failed mails are retried for two days with "
        "growing pauses. Exits with status 1 if a mail could not be sent."
    )

    def work_once(self) -> None:
        if not settings.EMAIL_URL:
            raise CommandError(UNSET)
        done = deliver()
        waiting = Mail.objects.waiting().count()
        text = f"{done.sent} mails sent, {waiting} waiting, {done.given_up} given up."
        if done.failed or done.given_up:
            raise CommandError(text)
        self.stdout.write(text)

    def work(self, is_ended: Callable[[], bool]) -> bool:
        return not deliver(is_ended).failed

    def watch(self, ended: Event) -> None:
        if not settings.EMAIL_URL:
            logger.warning(UNSET)
            ended.wait()
        super().watch(ended)
