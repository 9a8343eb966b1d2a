"""Reads the file of a whole service into an empty database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from plugins.exchange.service_file import Unusable, import_service
from tripcompanion.observability.progress import Progress


class Command(BaseCommand):
    """Migrate the database first, with the release that wrote the file."""

    help = "Read a file of export_all into this empty service, and audit it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            with file.open("rb") as opened, Progress("Importing", self.stderr) as progress:
                count, found = import_service(opened, progress)
        except (Unusable, OSError, KeyError, ValueError, BadZipFile, DatabaseError) as error:
            raise CommandError(f"Nothing was imported. {error}") from error
        for difference in found:
            self.stderr.write(str(difference))
        if found:
            raise CommandError(f"Nothing was imported: {len(found)} differences.")
        self.stdout.write(f"{count} rows, no difference.")
