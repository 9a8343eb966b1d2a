"""Deletes rows that are no longer needed."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session as BrowserSession
from django.core.management.base import BaseCommand
from django.db.models import QuerySet
from django.utils import timezone

from splits.models import DeletedEntry
from tripcompanion.attachments.models import Attachment, named_files
from tripcompanion.attachments.storage import sweep
from tripcompanion.database.models import IdempotencyRecord, ThrottleCounter
from tripcompanion.exchange.models import Import
from tripcompanion.webhooks.models import WebhookDelivery
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
        self.stdout.write(f"{sweep(named_files, dry_run=dry_run)} files without an attachment")
        if dry_run:
            self.stdout.write("Nothing was deleted.")


def outdated() -> Iterator[tuple[str, list[QuerySet]]]:
    """The rows to delete, by name: one queryset per column that ends a row, oldest first.

    Each of these columns has an index that finds a batch in that order.
    """
    now = timezone.now()
    month_ago = now - KEPT
    yield "idempotency keys", [IdempotencyRecord.objects.expired().order_by("created_at")]
    sessions = Session.objects
    yield (
        "sessions",
        [
            # Two querysets, because no index serves an OR of both columns.
            sessions.filter(ended_at__lte=month_ago).order_by("ended_at"),
            sessions.filter(expires_at__lte=month_ago).order_by("expires_at"),
        ],
    )
    tokens = ScopedToken.objects.filter(expires_at__lte=month_ago)
    yield "scoped tokens", [tokens.order_by("expires_at")]
    yield "throttle counters", [ThrottleCounter.objects.expired().order_by("ends_at")]
    links = EmailToken.objects.filter(expires_at__lte=now)
    yield "links", [links.order_by("expires_at")]
    mails = Mail.objects.filter(given_up_at__lte=month_ago)
    yield "mails", [mails.order_by("given_up_at")]
    invitations = Invitation.objects.filter(expires_at__lte=month_ago)
    yield "invitations", [invitations.order_by("expires_at")]
    yield "journal entries of deleted trips", [JournalEntry.objects.outdated(month_ago)]
    deliveries = WebhookDelivery.objects.ended(before=month_ago)
    yield "webhook deliveries", [deliveries.order_by("created_at")]
    plans = Import.objects.outdated()
    yield "plans of imports", [plans.order_by("created_at")]
    deleted_before = now - timedelta(days=settings.DELETED_ENTRY_DAYS)
    entries = DeletedEntry.objects.filter(deleted_at__lte=deleted_before)
    yield "deleted entries", [entries.order_by("deleted_at")]
    # After the entries that could have been restored with them.
    yield "attachments of deleted expenses", [Attachment.objects.outdated()]
    browsers = BrowserSession.objects.filter(expire_date__lte=now)
    yield "browser sessions", [browsers.order_by("expire_date")]


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
