"""What the tests that walk all apps need to know of calendars; see `tests/walked.py`."""

from typing import Any

from plugins.calendar.models import CalendarLink
from plugins.calendar.rights import CanSubscribe
from plugins.calendar.views import CalendarViewSet, OwnCalendarLinkViewSet, TripCalendarLinkViewSet
from tests.factories import UserFactory
from tests.trips.access import ME, OPEN, TRIP, USER, Row, Scene, everybody
from tests.trips.access import PROMISED as CORE
from tripcompanion.plugin import Plugin, plugins
from trips.roles import Can

OF_TRIP, OWN = f"{TRIP}/calendar-link", f"{ME}/calendar-link"
CALENDAR = "/api/calendars/{secret}.ics"

ROWS = [
    Row("GET", OF_TRIP, 200, Can.READ),
    Row("POST", OF_TRIP, 201, CanSubscribe.LINK),
    Row("DELETE", OF_TRIP, 204, CanSubscribe.LINK),
    Row("GET", OWN, statuses=USER),
    Row("POST", OWN, statuses=everybody(201, anonymous=401)),
    Row("DELETE", OWN, statuses=everybody(204, anonymous=401)),
    Row("GET", CALENDAR, statuses=everybody(200)),
]
PROMISED = {CanSubscribe.LINK: CORE[Can.READ]}
SCOPES_OF = {CanSubscribe.LINK: "calendar:write"}
AREAS = {OwnCalendarLinkViewSet: None, TripCalendarLinkViewSet: "calendar", CalendarViewSet: OPEN}
WRITTEN = {f"POST {OF_TRIP}": [], f"DELETE {OF_TRIP}": []}
SECRETS = {CalendarLink: ("digest",)}


def ids(scene: Scene, names: list[str]) -> dict[str, Any]:
    """Links of the caller, if the route is about them, and one of a member that is read."""
    if scene.route.endswith("/calendar-link") and scene.caller:
        for at, trip in enumerate([None, scene.trip]):
            new = {"digest": f"{scene.caller.pk}-{at}"}
            CalendarLink.objects.get_or_create(new, user=scene.caller, trip=trip)
    if "secret" not in names:
        return {}
    return {"secret": read_before(scene.someone, scene.trip)}


def read_before(user: Any, trip: Any) -> str:
    """The secret of a link that was read just now, so that reading it writes nothing."""
    made = CalendarLink.renew(user, trip)
    made.note_reading()
    return made.secret


_SHOWN = [app for app in plugins() if type(app).calendar is not Plugin.calendar]
#: The session, the trip and the link; the link, and what each app shows.
QUERIES = {OF_TRIP: 3, OWN: 2, CALENDAR: 1 + len(_SHOWN)}
COMMANDS = [(CanSubscribe.LINK, "POST", OF_TRIP)]
LOCKS_CALLER = [("POST", OF_TRIP)]
#: In no trip, or the end of one's own row.
WITHOUT_LOCK = {("DELETE", OF_TRIP), ("POST", OWN), ("DELETE", OWN)}
_FIRST = CalendarLink.objects.order_by("pk").values("user_id")[:1]
LINKS = ["calendarLink"]
#: Calendar programs may keep the answer to a secret address for a while.
PRIVATELY_CACHED = ["text/calendar"]
VIOLATIONS = [
    ("calendar_link_of_trip", "of_trip", {"user_id": _FIRST}),
    ("calendar_link_of_account", "of_account", {"user_id": _FIRST}),
]
UNIQUE = {"calendar_link_of_trip", "calendar_link_of_account"}


def fill_world(world: Any) -> None:
    made = world.made(f"/api/trips/{world.ids['tripId']}/calendar-link", None)
    world.made(OWN, None)
    world.ids["secret"] = made["url"].rpartition("/")[2].removesuffix(".ics")


def many(trip: Any, olga: Any, people: list[Any], _expense: Any) -> dict[str, Any]:
    """A link of each of the people, and both of Olga's."""
    CalendarLink.objects.bulk_create(
        CalendarLink(user=user, trip=trip, digest=f"{user.pk}") for user in people
    )
    CalendarLink.renew(olga, None)
    return {"secret": read_before(olga, trip)}


def one_of_each(trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    number = CalendarLink.objects.count()
    user = olga if number == 0 else UserFactory()
    CalendarLink.objects.create(user=user, trip=trip, digest=f"{number:064}")


def constrained(trip: Any, olga: Any) -> dict[str, Any]:
    links = {"of_trip": trip, "of_account": None}
    for link in links.values():
        CalendarLink.renew(olga, link)
    rows = {}
    for at, (name, link) in enumerate(links.items()):
        made = CalendarLink.objects.create(user=UserFactory(), trip=link, digest=f"{at}")
        rows[name] = CalendarLink.objects.filter(pk=made.pk)
    return rows


def made_in_a_session(user: Any) -> None:
    CalendarLink.renew(user, None)


def still_on() -> set[int]:
    return {*CalendarLink.objects.values_list("user", flat=True)}


#: Locks; see `tests/mutations/`.
GUARDS = {
    "plugins/calendar/models.py": [
        ("a link is made while its account is locked",
         "with by.locked(by=by), reading:",
         "with reading:",
         "PG plugins/calendar/tests/test_races.py"),
        ("a link is not read by who has left the trip",
         "(Q(trip__deleted_at=None) & may_see)",
         "Q(trip__deleted_at=None)",
         "plugins/calendar/tests/test_links.py -k no_longer_see"),
    ],
}  # fmt: skip
