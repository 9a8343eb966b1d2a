"""Writes and sends the messages of webhooks, signed as Standard Webhooks has it.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import hmac
import logging
import time
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from plugins.history.report import History
from plugins.history.serializers import HistoryEntrySerializer
from plugins.outgoing import NotAnswered, post
from plugins.states import states_of
from plugins.webhooks.models.delivery import DeliveryError, WebhookDelivery
from plugins.webhooks.models.queue import Attempt, Lease
from plugins.webhooks.models.webhook import SECRET_PREFIX, Webhook
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.compiled import serialize
from tripcompanion.database.snapshots import in_snapshot
from tripcompanion.database.turns import BATCH
from tripcompanion.database.watching import DATABASE_AWAY
from trips.models import Trip, show_addresses_to

logger = logging.getLogger(__name__)

USER_AGENT = "TripCompanion-Webhooks/1.0"
#: For lookup, connection, request and response together.
TIMEOUT_SECONDS = 5
#: How many messages a worker sends to one webhook before it turns to the others, and for how long,
#: so that a slow receiver does not delay the others.
MESSAGES_IN_A_ROW = 50
TURN_SECONDS = 2.0
#: How many webhooks one process serves at the same time, each with a database connection.
THREADS = 4
#: From when on an attempt is slow, and for how long its account counts as slow then.
SLOW_MS, SLOW_SECONDS = 1000, 300.0

#: Until when which accounts count as slow, and the turns of theirs that a process has at once.
_slow: deque[tuple[float, int]] = deque(maxlen=2000)
_slow_turns = BoundedSemaphore(THREADS - 1)


def deliver(is_over: Callable[[], bool] = bool) -> tuple[int, int]:
    """Send every message that is due, until `is_over`. Accounts take turns.

    Returns how many were delivered, and how many attempts failed. Call it outside transactions. Any
    number of processes may run it at once.
    """
    delivered, failed = 0, 0
    served: deque[int] = deque(maxlen=BATCH)
    while not is_over():
        with _turn(served) as lease:
            if lease is None:
                break
            for attempt in _attempts(lease, is_over):
                delivered += attempt.succeeded
                failed += not attempt.succeeded
    return delivered, failed


@contextmanager
def _turn(served: deque[int]) -> Iterator[Lease | None]:
    """A lease of the next webhook; None if there is none, or only of slow accounts.

    Accounts whose receivers are slow never have all threads.
    """
    slow = {user for until, user in _slow.copy() if until > time.monotonic()}
    is_held = _slow_turns.acquire(blocking=False)
    try:
        lease = Lease.claim(served, () if is_held else slow)
        if lease is not None:
            served.append(lease.webhook.user_id)
        if is_held and (lease is None or lease.webhook.user_id not in slow):
            _slow_turns.release()
            is_held = False
        yield lease
    finally:
        if is_held:
            _slow_turns.release()


def _attempts(lease: Lease, is_over: Callable[[], bool]) -> Iterator[Attempt]:
    """Send messages of a webhook until its turn is over."""
    ends_at = time.monotonic() + TURN_SECONDS
    try:
        lease.align()
        for _message in range(MESSAGES_IN_A_ROW):
            if is_over() or time.monotonic() > ends_at or (delivery := lease.next()) is None:
                break
            attempt = send(lease.webhook, delivery)
            if attempt.duration_ms >= SLOW_MS:
                _slow.append((time.monotonic() + SLOW_SECONDS, lease.webhook.user_id))
            yield attempt
            if not lease.note(delivery, attempt):
                break
    except DATABASE_AWAY:
        raise
    except Exception:
        # No row may stop the others.
        logger.exception("Webhook %s is postponed", lease.webhook)
        lease.postpone()
    finally:
        lease.release()


def send(webhook: Webhook, delivery: WebhookDelivery) -> Attempt:
    """Send a message once."""
    body = message_of(webhook, delivery)
    if body is None:
        return Attempt(None, DeliveryError.GONE, 0)
    sent_at = int(timezone.now().timestamp())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": delivery.message_id,
        "webhook-timestamp": str(sent_at),
        "webhook-signature": " ".join(
            signature(secret, delivery.message_id, sent_at, body) for secret in webhook.secrets()
        ),
    }
    started, status, error = time.monotonic(), None, DeliveryError.NONE
    try:
        status = post(
            webhook.url,
            body,
            headers,
            allow_private=settings.WEBHOOKS_ALLOW_PRIVATE,
            seconds=TIMEOUT_SECONDS,
        )
    except NotAnswered as unanswered:
        error = DeliveryError(unanswered.reason)
    attempt = Attempt(status, error, int((time.monotonic() - started) * 1000))
    if not attempt.succeeded:
        logger.warning("%s was not delivered to webhook %s: %s", delivery, webhook, status or error)
    return attempt


def message_of(webhook: Webhook, delivery: WebhookDelivery) -> bytes | None:
    """The body of a message as JSON; None if its account may no longer see the trip.

    It is an entry of the history, in the language of the webhook, with `state`: the object as its
    own endpoint currently shows it to the account of the webhook, or null if it no longer exists.
    """
    show_addresses_to(webhook.user)
    with translation.override(webhook.language):
        build = _event if delivery.number else _test
        body = in_snapshot(build, webhook, delivery)
    return None if body is None else ExactJSONRenderer().render(body)


def _test(webhook: Webhook, delivery: WebhookDelivery) -> dict[str, Any]:
    return {
        "number": None,
        "tripId": webhook.trip_id,
        "at": timezone.now(),
        "by": None,
        "via": "service",
        "event": delivery.event,
        "object": {"type": "webhook", "id": webhook.pk},
        "changes": {},
        "text": _("This is a test."),
        "state": None,
    }


def _event(webhook: Webhook, delivery: WebhookDelivery) -> dict[str, Any] | None:
    trip = Trip.objects.filter(pk=delivery.journal_trip_id or 0).first()
    if trip is None:
        return None
    entries, _total = History(trip, number=delivery.number).page(1, 0)
    if not entries:
        return None
    shown = serialize(HistoryEntrySerializer, entries[0], {})
    key = (entries[0].trip_id, entries[0].subject)
    return {**shown, "state": states_of(webhook.user, [key]).get(key)}


def signature(secret: str, message_id: str, sent_at: int, body: bytes) -> str:
    """One signature of a message, in the form of the header."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b"%s.%d.%s" % (message_id.encode(), sent_at, body)
    return f"v1,{b64encode(hmac.digest(key, signed, sha256)).decode()}"
