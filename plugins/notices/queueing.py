"""Queues notices of what happens in a trip for its members, in the transaction of the cause."""

from datetime import datetime, time, timedelta
from typing import Any

from django.db import models
from django.db.models import Count, Q
from django.dispatch import receiver
from django.utils import timezone

from plugins.notices.kinds import LETTERS, letter_of
from trips.signals import happened
from users.models import Mail, NoticeMode, User

#: When the daily digest is due (UTC).
DIGEST_AT = time(16)
#: How many notices may wait for an account; more are dropped.
MAX_WAITING = 50


@receiver(happened)
def notify(
    event: str,
    people: Q,
    by: User | None,
    trip_id: int,
    expense_id: int | None = None,
    **_about: object,
) -> None:
    """Queue a notice of `event` for the members among `people` who want it, but not for `by`.

    Accounts for which the same notice is waiting get no second one. It takes one statement, and
    one more if somebody is to be notified.
    """
    members = User.objects.filter(
        people, memberships__trip=trip_id, memberships__left_at=None
    ).exclude(pk=by and by.pk)
    letter = letter_of(event)
    about = {"trip_id": trip_id, "expense_id": expense_id}
    same = Mail.objects.waiting().filter(user__isnull=False, letter=letter, **about)
    readers = _readers_of(event, members).exclude(pk__in=same.values("user")).order_by("pk")
    Mail.objects.bulk_create(
        Mail(
            user=reader,
            letter=letter,
            address=reader.email or "",
            language=reader.notice_language,
            due_at=_next_notice_at(reader),
            **about,
        )
        for reader in readers
    )


def _readers_of(event: str, users: models.QuerySet[User]) -> models.QuerySet[User]:
    """Those of `users` who want to be notified of `event` and have room for another notice."""
    wanting = (
        users.filter(is_active=True, deleted_at=None, email_verified_at__isnull=False)
        .filter(notice_events__contains=event)
        .exclude(notice_mode=NoticeMode.OFF)
    )
    # No subquery refers to the outer one: Citus then reads the mails where they are.
    waiting = wanting.filter(mails__letter__in=LETTERS, mails__given_up_at=None)
    counted: Any = waiting.values("pk").annotate(waiting=Count("mails"))
    full = counted.filter(waiting__gte=MAX_WAITING)
    return wanting.exclude(pk__in=full.values("pk"))


def _next_notice_at(reader: User) -> datetime:
    """When a notice that is created now is due."""
    now = timezone.now()
    if reader.notice_mode != NoticeMode.DAILY:
        return now
    digest = now.replace(hour=DIGEST_AT.hour, minute=0, second=0, microsecond=0)
    return digest if now < digest else digest + timedelta(days=1)
