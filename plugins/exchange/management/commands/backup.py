"""Writes a backup of the database into a folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from plugins.exchange.backups import BackupFailed, back_up, delete_old
from tripcompanion.observability.progress import Progress

MAX_DAYS = 36_500


class Command(BaseCommand):
    """The service may go on meanwhile; the backup is what was there at one moment."""

    help = "Write a backup of the database, with a manifest, into a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--keep-days", type=int, help="delete older backups there; at least 1")

    def handle(
        self, *args: Any, folder: Path, keep_days: int | None = None, **options: Any
    ) -> None:
        # With 0, what is written here would be deleted at once.
        if keep_days is not None and not 1 <= keep_days <= MAX_DAYS:
            raise CommandError(f"--keep-days must be from 1 to {MAX_DAYS}.")
        # Scripts read the path of the backup from the output.
        self.stderr.write(f"Backing up the database into {folder} ...")
        try:
            with Progress("Still backing up", self.stderr):
                file = back_up(folder)
        except (BackupFailed, OSError) as error:
            raise CommandError(str(error)) from error
        if keep_days is not None:
            delete_old(folder, keep_days)
        self.stdout.write(str(file))
