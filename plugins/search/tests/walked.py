"""What the tests that walk all apps need to know of the search; see `tests/walked.py`."""

from typing import Any

from plugins.search.views import SearchViewSet
from tests.trips.access import Row, everybody

SEARCH = "/api/search"

#: Without a word, nobody finds anything.
ROWS = [Row("GET", SEARCH, statuses=everybody(400, anonymous=401))]
AREAS = {SearchViewSet: "trips"}
#: The session, how many there are, and a page of them.
QUERIES = {SEARCH: 3}
LISTS = {SEARCH}


def many(trip: Any, _olga: Any, _people: list[Any], _expense: Any) -> dict[str, int]:
    """All expenses have a word with the letter that is searched."""
    trip.expenses.update(description="A boat")
    return {}
