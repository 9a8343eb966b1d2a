"""Sends the messages of webhooks, once or continuously."""

from collections.abc import Callable
from threading import Event

from plugins.webhooks.sending import THREADS, deliver
from tripcompanion.database.watching import WatchCommand, watch_all


class Command(WatchCommand):
    """Several instances may run at once: each webhook is served by one at a time."""

    help = (
        "Send to the webhooks what has changed in their trips. Failed messages are retried for "
        "three days with growing pauses; then the webhook is turned off."
    )

    def work_once(self) -> None:
        delivered, failed = deliver()
        self.stdout.write(f"{delivered} messages delivered, {failed} attempts failed.")

    def work(self, is_ended: Callable[[], bool]) -> bool:
        deliver(is_ended)
        # One receiver that fails does not delay the others.
        return True

    def watch(self, ended: Event) -> None:
        watch_all([super().watch] * THREADS, ended)
