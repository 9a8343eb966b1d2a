"""Writes the whole service into a file, to move it to another database."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from plugins.exchange.service_file import export_service
from tripcompanion.observability.progress import Progress


class Command(BaseCommand):
    """Others may write meanwhile; the file has what was there when it was begun."""

    help = "Write the whole service into a file for import_all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        part = file.parent / f"{file.name}.part"
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as opened, Progress("Exporting", self.stderr) as progress:
                counts = export_service(opened, progress)
            part.replace(file)
        except OSError as error:
            # It holds password hashes.
            part.unlink(missing_ok=True)
            raise CommandError(f"Nothing was exported. {error}") from error
        self.stdout.write(f"{sum(counts.values())} rows of {len(counts)} tables in {file}.")
