"""With 100,000 messages and changes, a worker finds what is due as with a hundred."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from plugins.webhooks.models import Webhook
from plugins.webhooks.models.queue import Lease, due
from tests import citus
from tests.bulk import analyse, insert_many
from tests.factories import TripFactory, UserFactory, join
from tests.test_plans import scans_of
from trips.models import Trip
from trips.roles import TripRole
from users.models import User

pytestmark = citus.hides_plans

ROWS = 100_000
OTHERS = 300
BIG = {"splits_webhookdelivery", "trips_journalentry", "users_mail"}
_JOURNAL = (
    "INSERT INTO trips_journalentry (trip_id, number, at, via, event, object_id, stored_changes) "
    "SELECT %s, n, %s, 'service', 'trip.changed', 1, '{}' FROM numbers"
)
_LOG = (
    "INSERT INTO splits_webhookdelivery (webhook_id, message_id, event, journal_trip_id, number, "
    "state, by_hand, attempts, created_at, error) "
    "SELECT %s, n, 'trip.changed', %s, n, 'delivered', FALSE, 1, %s, '' FROM numbers"
)


@pytest.fixture
def busy(transactional_db):
    """A webhook that has sent so much, with its trip.

    Others have webhooks with nothing to send.
    """
    ago = timezone.now() - timedelta(days=20)
    people = User.objects.bulk_create(UserFactory.build_batch(OTHERS))
    trips = Trip.objects.bulk_create(TripFactory.build_batch(OTHERS))
    for user, trip in zip(people, trips, strict=True):
        join(trip, user, TripRole.OWNER)
        insert_many(_JOURNAL, 10, trip.pk, ago)
        hook = Webhook.objects.create(user=user, trip=trip, url="https://hooks.example/")
        hook.positions.create(trip=trip, number=10)
    trip, owner = TripFactory(), UserFactory()
    join(trip, owner, TripRole.OWNER)
    insert_many(_JOURNAL, ROWS, trip.pk, ago)
    hook = Webhook.objects.create(user=owner, url="https://hooks.example/", events=["*"])
    hook.positions.create(trip=trip, number=ROWS - 1)
    insert_many(_LOG, ROWS - 1, hook.pk, trip.pk, ago)
    analyse()
    return hook


@pytest.mark.slow
def test_a_worker_finds_the_next_message_without_reading_a_log_from_end_to_end(busy):
    hook = busy
    found: list[Any] = []

    def work():
        lease = Lease.claim(served=[hook.user_id])
        lease.align()
        found.extend([lease, lease.next()])
        lease.release()

    assert scans_of(work, BIG) == {}
    assert (found[0].webhook, found[1].number) == (hook, ROWS)
    assert [webhook.pk for webhook in due()] == [hook.pk]
