"""Puts a backup in the place of the database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from plugins.exchange.backups import BackupFailed, restore
from tripcompanion.observability.progress import Progress


class Command(BaseCommand):
    """Stop the service before. Afterwards migrate, if the backup is of an older release."""

    help = "Restore a backup that the command backup has written."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--overwrite", action="store_true", help="replace the accounts that are here"
        )

    def handle(self, *args: Any, file: Path, overwrite: bool, **options: Any) -> None:
        try:
            with Progress("Restoring", self.stderr):
                restore(file, overwrite=overwrite)
        except (BackupFailed, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write("Restored. Run migrate_safely, then audit_ledger.")
