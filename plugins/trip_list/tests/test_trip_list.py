"""The list of trips: its filters and orders, and what each member has archived."""

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plugins.trip_list.models import ArchivedTrip
from tests import citus
from tests.bulk import analyse
from tests.factories import PASSWORD, TripFactory, UserFactory, join, owned_trip
from tests.own_data import own_data
from tests.scoped import script_of
from tests.test_plans import scans_of
from tests.users.logins import bearer
from trips.roles import TripRole
from users.scopes import Scope

TODAY = datetime(2026, 5, 14, 23, 30, tzinfo=UTC)
TRIPS = [
    # title, destination, description, first day, last day
    ("Ski week", "Zermatt", "Eight pairs of skis", date(2026, 2, 28), date(2026, 3, 6)),
    ("café tour", "Wien", "", date(2026, 5, 13), date(2026, 5, 13)),
    ("Lisbon in May", "Lisboa", "Trams 100% sure", date(2026, 5, 14), date(2026, 5, 18)),
    ("A year out", "Everywhere", "Skis, too", date(2026, 1, 1), date(2026, 5, 14)),
    ("Azores", "São Miguel", "Whales", date(2026, 5, 15), date(2026, 5, 20)),
]
LISTS = ["/api/trips", "/api/trips/my-trips"]


@pytest.fixture
def trips(olga):
    """Olga's trips by the first letters of their titles, made a day after each other."""
    made = {}
    for at, (title, destination, description, start, end) in enumerate(TRIPS):
        created = TODAY + timedelta(days=at)
        fields = {"destination": destination, "description": description, "created_at": created}
        trip = owned_trip(olga, title=title, start_date=start, end_date=end, **fields)
        made[title[0]] = trip
    made["Z"] = made.pop("A")
    return made


def listed(api, user, query="", path=LISTS[0]):
    answer = api(user).get(f"{path}?{query}")
    assert answer.status_code == 200, answer.content
    page = answer.json()
    assert page["total"] == len(page["items"])
    return [item["title"] for item in page["items"]]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=upcoming", ["Azores"]),
        ("status=current", ["Lisbon in May", "A year out"]),
        ("status=past", ["café tour", "Ski week"]),
        ("search=ski", ["Ski week", "A year out"]),
        ("search=CAFE", ["café tour"]),
        ("search=sao+mig", ["Azores"]),
        ("search=skis+zermatt", ["Ski week"]),
        ("search=%25", ["Lisbon in May"]),
        ("search=_", []),
        ("search=+", ["Azores", "Lisbon in May", "café tour", "Ski week", "A year out"]),
        ("ordering=startDate&search=ski", ["A year out", "Ski week"]),
        ("ordering=title", ["A year out", "Azores", "café tour", "Lisbon in May", "Ski week"]),
        ("ordering=-title&status=current", ["Lisbon in May", "A year out"]),
        ("ordering=createdAt", ["Ski week", "café tour", "Lisbon in May", "A year out", "Azores"]),
        ("ordering=-createdAt&status=past", ["café tour", "Ski week"]),
        ("status=past&search=ski&archived=false", ["Ski week"]),
        ("archived=true", []),
    ],
)
def test_the_list_is_filtered_and_ordered(api, olga, trips, path, query, found):
    with time_machine.travel(TODAY, tick=False):
        assert listed(api, olga, query, path) == found


def test_titles_are_ordered_without_regard_to_case_and_accents(api, olga):
    for title in ("Zürich", "Ávila", "berlin"):
        join(TripFactory(title=title), olga)
    assert listed(api, olga, "ordering=title") == ["Ávila", "berlin", "Zürich"]


def test_an_archived_trip_is_missing_in_ones_own_list_alone(api, trip, olga, ed, ada):
    join(TripFactory(title="Other"), olga)
    path, title = f"/api/trips/{trip.pk}", trip.title
    for _again in range(2):
        assert api(olga).put(f"{path}/archive").status_code == 204
        for list_path in LISTS:
            assert listed(api, olga, path=list_path) == ["Other"]
            assert listed(api, olga, "archived=false", list_path) == ["Other"]
            assert listed(api, olga, "archived=true", list_path) == [title]
        assert listed(api, ed) == [title]
        assert [api(user).get(path).json()["archived"] for user in (olga, ed, ada)] == [
            *(True, False, False)
        ]
    for _again in range(2):
        assert api(olga).delete(f"{path}/archive").status_code == 204
        assert sorted(listed(api, olga)) == sorted(["Other", title])
        assert listed(api, olga, "archived=true") == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("search=w&ordering=title", ["Azores", "café tour", "Ski week"]),
        ("search=w", ["café tour", "Ski week", "Azores"]),
        ("archived=true", ["Ski week"]),
        ("archived=false&status=past", ["café tour"]),
    ],
)
@time_machine.travel(TODAY)
def test_deleted_trips_are_chosen_and_ordered_alike(api, olga, trips, query, found):
    api(olga).put(f"/api/trips/{trips['S'].pk}/archive")
    for letter in "ZScL":
        assert api(olga).delete(f"/api/trips/{trips[letter].pk}").status_code == 204
    assert listed(api, olga, f"deleted=true&{query}") == found


def test_archiving_changes_nothing_else(api, trip, olga):
    path = f"/api/trips/{trip.pk}"
    before = api(olga).get(path)
    cursor = api(olga).get("/api/changes").json()["cursor"]
    api(olga).put(f"{path}/archive")
    after = api(olga).get(path)
    assert api(olga).get(f"/api/changes?since={cursor}").json()["items"] == []
    body = after.json() | {"title": "Lisboa"}
    changed = api(olga).put(path, body, headers={"If-Match": before["ETag"]})
    assert changed.json()["archived"] is True
    (item,) = api(olga).get(f"/api/changes?since={cursor}").json()["items"]
    assert item["state"]["title"] == "Lisboa"


def test_a_restored_trip_is_archived_as_before_and_a_new_membership_begins_anew(
    api, trip, olga, ed
):
    path = f"/api/trips/{trip.pk}"
    for user in (olga, ed):
        api(user).put(f"{path}/archive")
    api(olga).delete(path)
    assert listed(api, olga, "deleted=true") == [trip.title]
    assert listed(api, olga, "archived=true") == []
    api(olga).post(f"{path}/restore")
    assert listed(api, ed, "archived=true") == [trip.title]
    api(olga).put(f"{path}/members/{ed.pk}/role", {"role": "VIEWER"})
    assert listed(api, ed) == []
    assert api(olga).delete(f"{path}/members/{ed.pk}").status_code == 204
    api(olga).post(f"{path}/members", {"userId": ed.pk})
    assert listed(api, ed) == [trip.title]


def test_a_confined_token_filters_and_archives_within_its_scopes(api, trip, olga):
    other = TripFactory(title=trip.title)
    join(other, olga)
    reads = bearer(script_of(olga, Scope.TRIPS_READ, trip=trip).token)
    writes = bearer(script_of(olga, Scope.TRIPS_READ, Scope.TRIPS_WRITE, trip=trip).token)
    assert reads.put(f"/api/trips/{trip.pk}/archive").status_code == 403
    assert writes.put(f"/api/trips/{other.pk}/archive").status_code == 404
    assert writes.put(f"/api/trips/{trip.pk}/archive").status_code == 204
    for query, ids in (("archived=true", [trip.pk]), ("", []), ("search=l&archived=false", [])):
        assert [item["id"] for item in reads.get(f"/api/trips?{query}").json()["items"]] == ids


def test_export_and_deletion_of_an_account_know_what_it_archived(api, trip, olga, vera):
    for user in (olga, vera):
        api(user).put(f"/api/trips/{trip.pk}/archive")
    assert [row["tripId"] for row in own_data(vera)["archivedTrips"]] == [trip.pk]
    assert api(vera).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert [row.user for row in ArchivedTrip.objects.all()] == [olga]


def test_the_list_costs_as_much_with_any_filter(api, olga, trips):
    client, counts = api(olga), {}
    for query in ("archived=false", "status=past", "search=i&ordering=title&archived=false"):
        for size in (1, 100):
            with CaptureQueriesContext(connection) as queries:
                client.get(f"/api/trips?pageSize={size}&{query}")
            counts[query, size] = len([q for q in queries if "SELECT" in q["sql"]])
    assert len({*counts.values()}) == 1, counts


@citus.hides_plans
def test_the_list_reads_the_trips_of_the_caller_alone(api, transactional_db, olga):
    """Not the thousand trips of others, and what these archived."""
    others = UserFactory.create_batch(20)
    for trip in TripFactory.create_batch(1000):
        join(trip, others[trip.pk % 20], TripRole.OWNER)
        ArchivedTrip.add(trip, others[trip.pk % 20])
    mine = owned_trip(olga)
    ArchivedTrip.add(mine, olga)
    analyse()
    client = api(olga)
    big = {"trips_trip", "trips_member", "trip_list_archivedtrip"}
    for query in ("", "archived=true", "status=past&search=a", "ordering=title"):
        assert not scans_of(lambda sent=query: client.get(f"/api/trips?{sent}"), big), query
