"""Sends the mails in the outbox, once or continuously."""

import logging
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from tripcompanion.database.watching import ended_by_signal, watch
from tripcompanion.notices.sending import deliver
from users.models import Mail

logger = logging.getLogger(__name__)

UNSET = "EMAIL_URL is not set; mails stay in the outbox."


class Command(BaseCommand):
    """Several instances may run at once: each attempt is claimed by one."""

    help = (
        "Send every mail in the outbox that is due. Failed mails are retried for two days with "
        "growing pauses. Exits with status 1 if a mail could not be sent."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--watch", action="store_true", help="keep running until SIGTERM or SIGINT"
        )

    def handle(self, *args: Any, watch: bool = False, **options: Any) -> None:
        if watch:
            self._watch()
            return
        if not settings.EMAIL_URL:
            raise CommandError(UNSET)
        done = deliver()
        waiting = Mail.objects.waiting().count()
        text = f"{done.sent} mails sent, {waiting} waiting, {done.given_up} given up."
        if done.failed or done.given_up:
            raise CommandError(text)
        self.stdout.write(text)

    def _watch(self) -> None:
        """Deliver until SIGTERM or SIGINT; finish the current mail first."""
        ended = ended_by_signal()
        if not settings.EMAIL_URL:
            logger.warning(UNSET)
            ended.wait()
        watch(ended, lambda: not deliver(ended.is_set).failed)
