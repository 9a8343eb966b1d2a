"""What the workers do: claim a webhook, take its next message, and store what came of it.

No row stays locked while a message is sent. Instead, a worker leases a webhook, and renews the
lease before each message. So the messages of a webhook are sent one after the other, in the order
of the journal of each trip. If a worker dies, its lease expires and another one goes on with the
same message.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from itertools import chain, islice
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.db import models, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone, translation

from plugins.webhooks.mails import WEBHOOK_OFF
from plugins.webhooks.models.delivery import (
    DeliveryError,
    DeliveryState,
    WebhookDelivery,
    new_message_id,
)
from plugins.webhooks.models.webhook import Webhook, WebhookPosition, WebhookState, permitted
from trips.models import Member
from trips.models.journal import JournalEntry
from trips.models.member import MemberQuerySet
from users.models import Mail

#: A webhook whose messages fail for this long is turned off.
GIVE_UP_AFTER = timedelta(days=3)
#: The pause doubles after each attempt.
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(hours=4)
#: When a webhook that met an unexpected error is due again.
RETRY_AFTER = timedelta(minutes=10)
#: Much longer than sending a message may take.
LEASE = timedelta(seconds=30)
#: How many webhooks of one account are served at the same time.
MOST_OF_AN_ACCOUNT = 2
#: How many webhooks a worker tries to claim before it asks the database again.
CANDIDATES = 20
#: How many rows of the journal are read at a time.
BATCH_ROWS = 100
#: How many webhooks are checked together.
BATCH_WEBHOOKS = 500


class Attempt(NamedTuple):
    """The result of sending a message once."""

    #: The status of the response; None if there was none.
    status: int | None
    error: DeliveryError
    duration_ms: int

    @property
    def succeeded(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def due(served: Collection[int] = ()) -> Iterator[Webhook]:
    """Unclaimed webhooks with something to send, those that have waited longest first.

    Those of the accounts `served` are left out.

    It asks for a batch of webhooks at a time, with a few statements. A single statement would not
    run on Citus, which stores journals and members on its workers, and webhooks on the coordinator.
    """
    waiting = WebhookDelivery.objects.waiting().filter(webhook=OuterRef("pk"))
    by_hand = Exists(waiting.filter(by_hand=True))
    claimed = Webhook.objects.filter(claimed_until__gt=timezone.now()).order_by()
    claims: Any = claimed.values("user").annotate(claims=models.Count("pk"))
    busy = claims.filter(claims__gte=MOST_OF_AN_ACCOUNT).values("user")
    free = (
        Webhook.objects.filter(_unclaimed())
        .filter(Q(by_hand) | Q(state=WebhookState.ON, due_at__lte=timezone.now()))
        .exclude(user__in=busy)
        .exclude(user__in={*served})
        .annotate(waits=Exists(waiting))
        .select_related("user")
        .order_by("due_at", "id")
    )
    batch = list(free[:BATCH_WEBHOOKS])
    while batch:
        wanting = {webhook.pk for webhook in batch if webhook.waits}
        webhooks = permitted(batch)
        wanting |= _with_news([webhook for webhook in webhooks if webhook.pk not in wanting])
        yield from (webhook for webhook in webhooks if webhook.pk in wanting)
        last = batch[-1]
        later = Q(due_at__gt=last.due_at) | Q(due_at=last.due_at, id__gt=last.pk)
        batch = list(free.filter(later)[:BATCH_WEBHOOKS]) if len(batch) == BATCH_WEBHOOKS else []


def _with_news(webhooks: Sequence[Webhook]) -> set[int]:
    """The ids of webhooks that are behind a journal, or do not know a trip of their account yet."""
    positions = WebhookPosition.objects.filter(webhook__in=webhooks)
    of_accounts = [webhook for webhook in webhooks if webhook.trip_id is None]
    known = set(positions.filter(webhook__in=of_accounts).values_list("webhook", "trip"))
    present = Member.objects.present().filter(user__in={one.user_id for one in of_accounts})
    trips = defaultdict(set)
    for user_id, trip_id in present.values_list("user", "trip"):
        trips[user_id].add(trip_id)
    unknown = {
        one.pk
        for one in of_accounts
        if any((one.pk, trip_id) not in known for trip_id in trips[one.user_id])
    }
    return unknown.union(_behind(positions).values_list("webhook", flat=True))


def _behind(positions: models.QuerySet[WebhookPosition]) -> models.QuerySet[WebhookPosition]:
    """Those after which there is something to send, each as often as there are rows."""
    # Rows that are not sent come after those that are, so the next ones tell.
    next_rows = (F("number") + 1, F("number") + BATCH_ROWS)
    return positions.filter(_is_told("trip__journal__"), trip__journal__number__range=next_rows)


def _unclaimed() -> Q:
    return Q(claimed_until=None) | Q(claimed_until__lte=timezone.now())


class Lease:
    """The right of a worker to send the messages of a webhook."""

    def __init__(self, webhook: Webhook, worker: UUID) -> None:
        self.webhook = webhook
        self._worker = worker

    @classmethod
    def claim(cls, served: Collection[int] = (), without: Collection[int] = ()) -> "Lease | None":
        """Claim a webhook that is due, but none of the accounts `without`; None if there is none.

        Accounts take turns: those that were `served` come after the others.
        """
        worker = uuid4()
        rounds = dict.fromkeys([(*served, *without), (*without,)])
        for webhook in chain(*(islice(due(them), CANDIDATES) for them in rounds)):
            # Only columns of the row, because PostgreSQL compares them again after waiting for it.
            free = Webhook.objects.filter(_unclaimed(), pk=webhook.pk)
            if free.update(claimed_by=worker, claimed_until=timezone.now() + LEASE):
                return cls(webhook, worker)
        return None

    def _mine(self) -> models.QuerySet[Webhook]:
        return Webhook.objects.filter(pk=self.webhook.pk, claimed_by=self._worker)

    def release(self) -> None:
        self._mine().update(claimed_by=None, claimed_until=None)

    def postpone(self) -> None:
        """Try again later, after an unexpected error. What was sent by hand has failed."""
        if self._mine().update(due_at=timezone.now() + RETRY_AFTER):
            by_hand = self.webhook.deliveries.waiting().filter(by_hand=True)
            by_hand.update(state=DeliveryState.FAILED)

    def _renew(self) -> bool:
        """Renew the lease, and lock and read the row; False if another worker has taken over.

        Call it inside a transaction.
        """
        if not self._mine().update(claimed_until=timezone.now() + LEASE):
            return False
        self.webhook = self._mine().select_related("user").get()
        return True

    def align(self) -> None:
        """Follow the memberships of an account whose webhook is for all its trips."""
        webhook = self.webhook
        if webhook.trip_id is not None:
            return
        with transaction.atomic():
            if not self._renew():
                return
            present = self._memberships()
            webhook.positions.exclude(trip__in=present.values("trip")).delete()
            known = webhook.positions.values("trip")
            for trip_id, joined_at in present.exclude(trip__in=known).values_list(
                "trip", "joined_at"
            ):
                since = max(webhook.created_at, joined_at)
                WebhookPosition.start(webhook, trip_id, since)
            gone = webhook.deliveries.waiting().filter(journal_trip_id__isnull=False)
            gone.exclude(journal_trip_id__in=present.values("trip")).update(
                state=DeliveryState.FAILED, error=DeliveryError.GONE
            )

    def _memberships(self) -> MemberQuerySet:
        """The trips of the account, with deleted ones until the webhook has heard of it."""
        return Member.objects.present_or_restorable().filter(user=self.webhook.user_id)

    def _still_seen(self, trip_column: str) -> Q:
        """Filters rows by the trip in this column; the account may have left the trip."""
        if self.webhook.trip_id is not None:
            return Q()
        trips = self._memberships().values("trip")
        return Q((f"{trip_column}__in", trips)) | Q((trip_column, None))

    def next(self) -> WebhookDelivery | None:
        """The next message; None if there is none, or if this worker may no longer send any."""
        with transaction.atomic():
            if not self._renew() or not permitted([self.webhook]):
                return None
            seen = self.webhook.deliveries.filter(self._still_seen("journal_trip_id"))
            waiting = seen.waiting().order_by("-by_hand", "id").first()
            if waiting is not None and waiting.by_hand:
                return waiting
            is_on = self.webhook.state == WebhookState.ON
            if not is_on or self.webhook.due_at > timezone.now():
                return None
            return waiting or self._from_journal()

    def _from_journal(self) -> WebhookDelivery | None:
        """A new message for the next row of a journal that the webhook wants."""
        positions = self.webhook.positions.filter(self._still_seen("trip"))
        for position in _behind(positions).order_by("id").distinct():
            while rows := events_after(position.trip_id, position.number):
                for number, event in rows:
                    position.number = number
                    if self.webhook.wants(event):
                        position.save(update_fields=["number"])
                        return WebhookDelivery.objects.create(
                            webhook=self.webhook,
                            event=event,
                            journal_trip_id=position.trip_id,
                            number=number,
                            message_id=new_message_id(),
                        )
                position.save(update_fields=["number"])
        return None

    def note(self, delivery: WebhookDelivery, attempt: Attempt) -> bool:
        """Store the result of an attempt; return whether this worker may go on at once.

        It may not after a failure, unless the message was sent by hand. A message sent by hand is
        sent only once; others are sent again after a pause. After `GIVE_UP_AFTER`, the webhook is
        turned off, and its account is notified by mail.
        """
        with transaction.atomic():
            if not self._renew():
                return False
            is_over = delivery.by_hand or self._is_given_up(attempt)
            self._note_attempt(attempt, by_hand=delivery.by_hand)
            delivery.attempts += 1
            delivery.last_at, delivery.duration_ms = self.webhook.last_at, attempt.duration_ms
            delivery.status, delivery.error = attempt.status, attempt.error
            if attempt.succeeded:
                delivery.state = DeliveryState.DELIVERED
            elif is_over:
                delivery.state = DeliveryState.FAILED
            columns = ["attempts", "last_at", "duration_ms", "status", "error", "state"]
            delivery.save(update_fields=columns)
        return attempt.succeeded or delivery.by_hand

    def _is_given_up(self, attempt: Attempt) -> bool:
        since = self.webhook.failing_since
        return (
            not attempt.succeeded and since is not None and since <= timezone.now() - GIVE_UP_AFTER
        )

    def _note_attempt(self, attempt: Attempt, *, by_hand: bool) -> None:
        webhook, now = self.webhook, timezone.now()
        webhook.last_at, webhook.last_status = now, attempt.status
        if attempt.succeeded:
            webhook.failures, webhook.failing_since, webhook.due_at = 0, None, now
        elif not by_hand:
            if self._is_given_up(attempt):
                webhook.state = WebhookState.OFF
                self._tell()
            webhook.failures += 1
            webhook.failing_since = webhook.failing_since or now
            doubled = FIRST_PAUSE * 2 ** min(webhook.failures - 1, 20)
            webhook.due_at = now + min(doubled, LONGEST_PAUSE)
        columns = ["last_at", "last_status", "failures", "failing_since", "due_at", "state"]
        webhook.save(update_fields=columns)

    def _tell(self) -> None:
        user = self.webhook.user
        if user.email:
            with translation.override(self.webhook.language):
                Mail.objects.tell(user, WEBHOOK_OFF, user.email)


def _is_told(journal: str = "") -> Q:
    """Filters the rows that are sent, of the journal to which this path leads.

    Of a deleted trip, these are the rows up to its deletion; the others follow if it is restored.
    Members who delete their accounts leave it meanwhile.
    """
    return Q(trip__deleted_at=None) | Q((f"{journal}at__lte", F("trip__deleted_at")))


def events_after(trip_id: int, number: int) -> list[tuple[int, str]]:
    """Number and event of the next rows of a trip's journal that must be sent."""
    rows = JournalEntry.objects.filter(_is_told(), trip=trip_id, number__gt=number)
    return list(rows.order_by("number").values_list("number", "event")[:BATCH_ROWS])
