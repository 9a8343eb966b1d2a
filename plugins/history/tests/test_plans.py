"""With 100,000 rows in its journal, the history of a trip is read and written as with 100."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from tests import citus
from tests.factories import spend
from tests.long_journal import ROWS, long_journal
from tests.test_plans import noted, scanning
from trips.models import JournalEntry

pytestmark = citus.hides_plans

__all__ = ["long_journal"]


def test_no_page_of_a_long_history_reads_the_journal_from_end_to_end(api, long_journal):
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
    assert [row["number"] for row in answers["last page"].json()["items"]] == list(range(21, 1, -1))
