"""What the tests that walk all apps need to know of the root of the API; see `tests/walked.py`."""

from plugins.pages.root import RootViewSet
from tests.trips.access import OPEN, Row, everybody

ROWS = [Row("GET", "/api", statuses=everybody(200))]
AREAS = {RootViewSet: OPEN}
QUERIES = {"/api": 1}
SINGLE = {"/api"}
