"""What the tests that walk all apps need to know of archived trips; see `tests/walked.py`."""

from typing import Any

from plugins.trip_list.models import ArchivedTrip
from plugins.trip_list.rights import CanArchive
from plugins.trip_list.views import ArchiveViewSet
from tests.trips.access import PROMISED as CORE
from tests.trips.access import TRIP, Row
from trips.roles import Can

ARCHIVE = f"{TRIP}/archive"

ROWS = [Row(method, ARCHIVE, 204, CanArchive.ARCHIVE) for method in ("PUT", "DELETE")]
PROMISED = {CanArchive.ARCHIVE: CORE[Can.READ]}
SCOPES_OF = {CanArchive.ARCHIVE: "trips:write"}
AREAS = {ArchiveViewSet: "trips"}
WRITTEN = {f"{method} {ARCHIVE}": [] for method in ("PUT", "DELETE")}
COMMANDS = [(CanArchive.ARCHIVE, "PUT", ARCHIVE)]
#: The end of one's own row.
WITHOUT_LOCK = [("DELETE", ARCHIVE)]
VIOLATIONS = [("trip_archived_once", "archived", {"user": "olga"})]
UNIQUE = {"trip_archived_once"}


def many(trip: Any, _olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    """It is archived by all of the people, but those whose list is read."""
    for user in people:
        ArchivedTrip.add(trip, user)
    return {}


def constrained(trip: Any, olga: Any) -> dict[str, Any]:
    for member in trip.members.all():
        ArchivedTrip.objects.create(trip=trip, user=member.user)
    return {"archived": ArchivedTrip.objects.filter(trip=trip).exclude(user=olga)}
