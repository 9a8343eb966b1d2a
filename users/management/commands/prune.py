"""Deletes what nobody needs any more."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib.sessions.models import Session as BrowserSession
from django.core.management.base import BaseCommand
from django.db.models import QuerySet
from django.utils import timezone

from tripcompanion.kit.models import GivenAnswer, Tally
from users.models import Link, Mail, ScopedToken, Session

#: For how long an ended log-in or token and a mail that was given up can still be looked at.
KEPT = timedelta(days=30)
BATCH_ROWS = 1000


class Command(BaseCommand):
    """Safe at any time, also twice at once: small transactions, and nothing that is in use."""

    help = (
        "Delete expired links, browser sessions, idempotency keys and counters of limits, and "
        "log-ins, scoped tokens and mails that came to an end 30 days ago. For cron."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        for name, ends in outdated():
            self.stdout.write(f"{sum(map(delete, ends))} {name}")


def outdated() -> Iterator[tuple[str, list[QuerySet]]]:
    """What may go, by name: for each column that can end it the rows, the oldest end first.

    Each of these columns has an index, which finds a batch in that order.
    """
    now = timezone.now()
    month_ago = now - KEPT
    yield "idempotency keys", [GivenAnswer.objects.expired().order_by("created_at")]
    sessions = Session.objects
    yield (
        "log-ins",
        [
            # Two, because no index serves one condition or the other.
            sessions.filter(ended_at__lte=month_ago).order_by("ended_at"),
            sessions.filter(expires_at__lte=month_ago).order_by("expires_at"),
        ],
    )
    tokens = ScopedToken.objects.filter(expires_at__lte=month_ago)
    yield "scoped tokens", [tokens.order_by("expires_at")]
    yield "counters of limits", [Tally.objects.expired().order_by("ends_at")]
    yield "links", [Link.objects.expired().order_by("expires_at")]
    mails = Mail.objects.filter(given_up_at__lte=month_ago)
    yield "mails", [mails.order_by("given_up_at")]
    browsers = BrowserSession.objects.filter(expire_date__lte=now)
    yield "browser sessions", [browsers.order_by("expire_date")]


def delete(rows: QuerySet) -> int:
    """Delete `rows` batch by batch, so that no lock is held for long; how many there were."""
    deleted = 0
    while keys := list(rows.values_list("pk", flat=True)[:BATCH_ROWS]):
        # Still by the conditions: a row may have come to life between the two statements.
        deleted += rows.filter(pk__in=keys).delete()[0]
    return deleted
