"""`manage.py distribute`: see `tripcompanion.accounts.distributing`."""

from typing import Any

from django.core.management.base import BaseCommand

from tripcompanion.accounts.distributing import distribute


class Command(BaseCommand):
    """Distributes the tables of a migrated database by trip, on a coordinator of Citus."""

    help = "Distribute the tables of a migrated database by trip; DATABASE_URL is a coordinator."

    def handle(self, *args: Any, **options: Any) -> None:
        for line in distribute():
            self.stdout.write(line)
