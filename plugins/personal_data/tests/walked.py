"""What the tests that walk all apps need to know of the export; see `tests/walked.py`."""

from plugins.personal_data.views import PersonalDataViewSet
from tests.trips.access import ME, USER, Row
from tripcompanion.plugin import plugins

EXPORT = f"{ME}/export"

ROWS = [Row("GET", EXPORT, statuses=USER)]
AREAS = {PersonalDataViewSet: None}
#: One for each list, and one for the expenses of the payments and of the splits.
QUERIES = {EXPORT: 1 + sum(len([*app.personal_data()]) for app in plugins()) + 2}
LINKS = ["export"]
OF_ACCOUNT = [EXPORT]
SHOWN = {"export": "/users/me/export"}
DEAR = {"an account": ("get", EXPORT, lambda _wide: None, (60, 3600))}
