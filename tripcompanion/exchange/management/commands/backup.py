"""Writes a backup of the database into a folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tripcompanion.exchange.backups import BackupFailed, back_up, delete_old


class Command(BaseCommand):
    """The service may go on meanwhile; the backup is what was there at one moment."""

    help = "Write a backup of the database, with a manifest, into a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--keep-days", type=int, help="delete older backups there")

    def handle(
        self, *args: Any, folder: Path, keep_days: int | None = None, **options: Any
    ) -> None:
        try:
            file = back_up(folder)
        except (BackupFailed, OSError) as error:
            raise CommandError(str(error)) from error
        if keep_days is not None:
            delete_old(folder, keep_days)
        self.stdout.write(str(file))
