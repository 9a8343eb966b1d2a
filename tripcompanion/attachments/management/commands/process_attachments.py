"""Cleans uploaded pictures, once or continuously."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from tripcompanion.attachments.processing import process
from tripcompanion.database.watching import ended_by_signal, watch


class Command(BaseCommand):
    """Several instances may run at once: each picture is cleaned by one at a time."""

    help = (
        "Turn uploaded pictures upright, remove position and other metadata, and make thumbnails. "
        "What cannot be decoded is refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--watch", action="store_true", help="keep running until SIGTERM or SIGINT"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["watch"]:
            process()
            return
        ended = ended_by_signal()
        watch(ended, lambda: process(ended.is_set))
