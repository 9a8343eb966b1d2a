"""Checks whether this version can run on the database. For deployments and roll-backs."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tripcompanion.database.schema_floor import schema_mismatch


class Command(BaseCommand):
    """The same check as `/api/health/ready`, with the reason."""

    help = "Exit with 1, and say why, if this version cannot run on the database."

    def handle(self, *args: Any, **options: Any) -> None:
        if reason := schema_mismatch():
            raise CommandError(reason)
        self.stdout.write("This version can run on the database.")
