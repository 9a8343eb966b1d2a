"""What the tests that walk all apps need to know of the history; see `tests/walked.py`."""

from plugins.history.views import ExpenseHistoryViewSet, HistoryViewSet
from tests.trips.access import TRIP, Row
from trips.roles import Can

OF_TRIP = f"{TRIP}/history"
OF_EXPENSE = f"{TRIP}/expenses/{{expense_id}}/history"
ROWS = [Row("GET", OF_TRIP, can=Can.READ), Row("GET", OF_EXPENSE, can=Can.READ)]
AREAS = {HistoryViewSet: "trips", ExpenseHistoryViewSet: "expenses"}
QUERIES = {OF_TRIP: 7, OF_EXPENSE: 8}
LISTS = [OF_TRIP]
PLACES = ["/history"]
