"""With 100,000 rows in its journal, the history of a trip is read and written as with 100."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from tests import citus
from tests.bulk import analyse
from tests.cast import Api
from tests.factories import TripFactory, UserFactory, join, spend
from tests.test_plans import noted, scanning
from trips.models import JournalEntry, Trip
from trips.roles import TripRole
from users.models import User

pytestmark = citus.hides_plans

ROWS = 100_000
_FILL = (
    "INSERT INTO trips_journalentry (trip_id, number, at, by_id, via, event, object_id, "
    "expense_id, stored_changes) "
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %s) "
    "SELECT %s, n, %s, %s, 'session', CASE WHEN n %% 50 = 0 THEN 'trip.changed' "
    "ELSE 'split.added' END, n / 10, n / 10, '{}' FROM numbers"
)


@pytest.fixture
def long_journal(transactional_db: None) -> tuple[Trip, User]:
    """A trip with so many rows, most of them by somebody who left, and its owner."""
    trip, owner, former = TripFactory(), UserFactory(), UserFactory()
    join(trip, owner, TripRole.OWNER)
    year_ago = connection.ops.adapt_datetimefield_value(timezone.now() - timedelta(days=365))
    with connection.cursor() as cursor:
        cursor.execute(_FILL, [ROWS, trip.pk, year_ago, former.pk])
        # Without other trips, PostgreSQL would expect every condition to leave most rows.
        for other in range(1, 301):
            cursor.execute(_FILL, [10, trip.pk + other, year_ago, None])
    analyse()
    return trip, owner


def test_no_page_of_a_long_history_reads_the_journal_from_end_to_end(
    api: Api, long_journal: tuple[Trip, User]
) -> None:
    trip, owner = long_journal
    expense = spend(trip, 1000, paid_by=owner, among=[owner])
    client, path = api(owner), f"/api/trips/{trip.pk}"
    yesterday = (timezone.now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    pages = {
        "first page": "history",
        "last page": f"history?page={ROWS // 20}",
        "since": f"history?since={yesterday}",
        "by": f"history?by={owner.pk}",
        "event": "history?event=trip.changed",
        "of an expense": f"expenses/{expense.pk}/history",
    }
    requests: dict[str, Any] = {
        name: lambda to=f"{path}/{page}": client.get(to) for name, page in pages.items()
    }
    requests["write"] = lambda: client.patch(path, {"title": "Porto"})
    statements, answers = noted(requests)
    assert not {
        where for where, tables in scanning(statements).items() if "trips_journalentry" in tables
    }
    totals = {name: answers[name].json()["total"] for name in pages}
    assert totals == {
        "first page": ROWS + 1,
        "last page": ROWS + 1,
        "since": 1,
        "by": 1,
        "event": ROWS // 50,
        "of an expense": JournalEntry.objects.filter(trip=trip.pk, expense_id=expense.pk).count(),
    }
    numbers = [row["number"] for row in answers["last page"].json()["items"]]
    assert numbers == list(range(21, 1, -1))
