"""Cleans uploaded pictures, once or continuously."""

from collections.abc import Callable

from django.core.management.base import CommandError

from plugins.attachments.processing import process
from tripcompanion.database.watching import WatchCommand


class Command(WatchCommand):
    """Several instances may run at once: each picture is cleaned by one at a time."""

    help = (
        "Turn uploaded pictures upright, remove position and other metadata, and make thumbnails. "
        "What cannot be decoded is refused."
    )

    def work(self, is_ended: Callable[[], bool]) -> bool:
        return process(is_ended)

    def work_once(self) -> None:
        if not process():
            raise CommandError("Pictures cannot be cleaned now; see the log.")
