"""Sends the messages of webhooks, once or continuously."""

from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from tripcompanion.database.watching import ended_by_signal, watch
from tripcompanion.webhooks.sending import deliver

#: How many webhooks one process serves at the same time, each with a database connection.
THREADS = 4


class Command(BaseCommand):
    """Several instances may run at once: each webhook is served by one at a time."""

    help = (
        "Send to the webhooks what has changed in their trips. Failed messages are retried for "
        "three days with growing pauses; then the webhook is turned off."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--watch", action="store_true", help="keep running until SIGTERM or SIGINT"
        )

    def handle(self, *args: Any, watch: bool = False, **options: Any) -> None:
        if watch:
            _watch()
            return
        done = deliver()
        self.stdout.write(f"{done.delivered} messages delivered, {done.failed} attempts failed.")


def _watch() -> None:
    """Deliver until SIGTERM or SIGINT; finish the current message first."""
    ended = ended_by_signal()

    def work() -> bool:
        deliver(ended.is_set)
        # One receiver that fails does not delay the others.
        return True

    def serve() -> None:
        try:
            watch(ended, work)
        finally:
            # After an error in one thread the others end too, and the operator's supervisor
            # restarts all.
            ended.set()
            connection.close()

    with ThreadPoolExecutor(THREADS) as threads:
        for served in [threads.submit(serve) for _number in range(THREADS)]:
            served.result()
