"""Deletes what nobody needs any more."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib.sessions.models import Session as BrowserSession
from django.core.management.base import BaseCommand
from django.db.models import Q, QuerySet
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
        for name, rows in outdated():
            self.stdout.write(f"{delete(rows)} {name}")


def outdated() -> Iterator[tuple[str, QuerySet]]:
    """What may go, by name."""
    now = timezone.now()
    yield "idempotency keys", GivenAnswer.objects.expired()
    ended = Q(ended_at__lte=now - KEPT) | Q(expires_at__lte=now - KEPT)
    yield "log-ins", Session.objects.filter(ended)
    yield "scoped tokens", ScopedToken.objects.filter(expires_at__lte=now - KEPT)
    yield "counters of limits", Tally.objects.expired()
    yield "links", Link.objects.expired()
    yield "mails", Mail.objects.filter(given_up_at__lte=now - KEPT)
    yield "browser sessions", BrowserSession.objects.filter(expire_date__lte=now)


def delete(rows: QuerySet) -> int:
    """Delete `rows` batch by batch, so that no lock is held for long; how many there were."""
    deleted = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH_ROWS]):
        # Still by the conditions: a row may have come to life between the two statements.
        deleted += rows.filter(pk__in=keys).delete()[0]
    return deleted
