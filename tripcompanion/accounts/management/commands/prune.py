"""Deletes rows that are no longer needed."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session as BrowserSession
from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet
from django.utils import timezone

from plugins.attachments.models import Attachment, named_files
from plugins.attachments.storage import StorageUnavailable, sweep
from plugins.exchange.models import Import
from plugins.webhooks.models import WebhookDelivery
from splits.models import DeletedEntry
from tripcompanion.database.models import IdempotencyRecord, ThrottleCounter
from trips.models import Invitation, JournalEntry, Trip
from trips.models.invitation import InvitationQuerySet
from users.models import EmailToken, Mail, ScopedToken, Session

#: How long ended sessions, expired tokens and given-up mails are kept for inspection.
KEPT = timedelta(days=30)
BATCH_ROWS = 1000


class Command(BaseCommand):
    """Safe to run at any time, also concurrently: it uses small transactions."""

    help = (
        "Delete expired e-mail links, browser sessions, idempotency keys and throttle counters, "
        "sessions, scoped tokens, invitations, mails and deliveries to webhooks that ended 30 days "
        "ago, plans of imports that are a day old, the journal of trips that were deleted 30 days "
        "ago, trips that were deleted DELETED_TRIP_DAYS ago, expenses and settlements that were "
        "deleted DELETED_ENTRY_DAYS ago with their attachments, and files that belong to nothing. "
        "For cron."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="count the rows, and delete nothing"
        )

    def handle(self, *args: Any, dry_run: bool = False, **options: Any) -> None:
        # A trip is one row, with many that reference it.
        trips = Trip.objects.outdated()
        self.stdout.write(f"{trips.count() if dry_run else trips.purge()} deleted trips")
        for name, ends in outdated():
            # A row may be in several of the querysets, so the sum of their counts is too high.
            number = reduce(or_, ends).count() if dry_run else sum(map(delete, ends))
            self.stdout.write(f"{number} {name}")
        try:
            files = sweep(named_files, dry_run=dry_run)
        except StorageUnavailable as error:
            raise CommandError(f"Files were not deleted: {error.__cause__}") from error
        self.stdout.write(f"{files} files without an attachment")
        if dry_run:
            self.stdout.write("Nothing was deleted.")


def outdated() -> Iterator[tuple[str, list[QuerySet]]]:
    """The rows to delete, by name: one queryset per column that ends a row, oldest first.

    Each of these columns has an index that finds a batch in that order.
    """
    now = timezone.now()
    month_ago = now - KEPT
    yield "idempotency keys", [IdempotencyRecord.objects.expired().order_by("created_at")]
    # Two querysets, because no index serves an OR of both columns.
    columns = ("ended_at", "expires_at")
    yield "sessions", [_until(month_ago, Session, column) for column in columns]
    yield "scoped tokens", [_until(month_ago, ScopedToken, "expires_at")]
    yield "throttle counters", [ThrottleCounter.objects.expired().order_by("ends_at")]
    yield "links", [_until(now, EmailToken, "expires_at")]
    yield "mails", [_until(month_ago, Mail, "given_up_at")]
    yield "invitations", [_until(month_ago, Invitation, "expires_at")]
    yield "journal entries of deleted trips", [JournalEntry.objects.outdated(month_ago)]
    deliveries = WebhookDelivery.objects.ended(before=month_ago)
    yield "webhook deliveries", [deliveries.order_by("created_at")]
    yield "plans of imports", [Import.objects.outdated().order_by("created_at")]
    deleted_before = now - timedelta(days=settings.DELETED_ENTRY_DAYS)
    yield "deleted entries", [_until(deleted_before, DeletedEntry, "deleted_at")]
    # After the entries that could have been restored with them.
    yield "attachments of deleted expenses", [Attachment.objects.outdated()]
    yield "browser sessions", [_until(now, BrowserSession, "expire_date")]


def _until(moment: datetime, model: Any, column: str) -> QuerySet:
    """The rows whose `column` is not after `moment`, oldest first."""
    return model.objects.filter(**{f"{column}__lte": moment}).order_by(column)


def delete(rows: QuerySet) -> int:
    """Delete `rows` in batches, so that no lock is held for long; return the count."""
    deleted = 0
    while keys := list(rows.values_list("pk", flat=True)[:BATCH_ROWS]):
        # Filtered again: a row may have been renewed between the two statements.
        batch = rows.filter(pk__in=keys)
        if isinstance(batch, InvitationQuerySet):
            # The mails of invitations are deleted with them, and are not counted.
            deleted += len(batch.remove())
        else:
            deleted += batch.delete()[0]
    return deleted
