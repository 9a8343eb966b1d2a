"""A trip with 100,000 rows in its journal."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.bulk import analyse, insert_many
from tests.factories import TripFactory, UserFactory, join
from trips.models import Trip
from trips.roles import TripRole
from users.models import User

ROWS = 100_000
_FILL = (
    "INSERT INTO trips_journalentry (trip_id, number, at, by_id, via, event, object_id, "
    "expense_id, stored_changes) "
    "SELECT %s, n, %s, %s, 'session', CASE WHEN n %% 50 = 0 THEN 'trip.changed' "
    "ELSE 'split.added' END, n / 10, n / 10, '{}' FROM numbers"
)


@pytest.fixture
def long_journal(transactional_db: None) -> tuple[Trip, User]:
    """A trip with so many rows, most of them by somebody who left, and its owner."""
    trip, owner, former = TripFactory(), UserFactory(), UserFactory()
    join(trip, owner, TripRole.OWNER)
    year_ago = timezone.now() - timedelta(days=365)
    insert_many(_FILL, ROWS, trip.pk, year_ago, former.pk)
    # Without other trips, PostgreSQL would expect every condition to leave most rows.
    for other in range(1, 301):
        insert_many(_FILL, 10, trip.pk + other, year_ago, None)
    analyse()
    return trip, owner
