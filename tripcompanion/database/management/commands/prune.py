"""Deletes rows that are no longer needed."""

from argparse import ArgumentParser
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from tripcompanion.database.deletes import delete_in_batches
from tripcompanion.plugin import plugins

#: How long ended sessions, expired tokens and given-up mails are kept for inspection.
KEPT = timedelta(days=30)


class Command(BaseCommand):
    """Safe to run at any time, also concurrently: it uses small transactions."""

    help = (
        "Delete what each app no longer needs, such as expired links, sessions that ended 30 days "
        "ago, trips that cannot be restored any more, and files that belong to nothing. For cron."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="count the rows, and delete nothing"
        )

    def handle(self, *args: Any, dry_run: bool = False, **options: Any) -> None:
        now = timezone.now()
        for app in plugins():
            for name, ends in app.outdated(now, now - KEPT):
                # A row may be in several of the querysets: the sum of their counts is too high.
                number = reduce(or_, ends).count() if dry_run else sum(map(_delete, ends))
                self.stdout.write(f"{number} {name}")
        for app in plugins():
            for name, number in app.sweep(dry_run=dry_run):
                self.stdout.write(f"{number} {name}")
        if dry_run:
            self.stdout.write("Nothing was deleted.")


def _delete(rows: Any) -> int:
    return rows.purge() if hasattr(rows, "purge") else delete_in_batches(rows)
