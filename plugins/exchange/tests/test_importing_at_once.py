"""Confirming and undoing in the same instant: an import is recorded once."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings

from plugins.exchange.tests.samples import SPLITWISE_API
from tests.locks import holding, while_locked
from tests.passwords import PASSWORD


def test_a_plan_that_is_confirmed_twice_at_once_is_recorded_once(server, traveller):
    planned = traveller.done("POST", "/imports", json.loads(SPLITWISE_API))

    def confirm():
        return traveller.call("POST", f"/imports/{planned['id']}/confirm")

    answers = while_locked(server, "exchange_import", planned["id"], [confirm, confirm])
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert len(traveller.done("GET", "/trips")["items"]) == 1


@pytest.mark.skipif(settings.DATABASE_URL.startswith("sqlite"), reason="SQLite locks no row")
def test_a_plan_is_locked_while_it_is_confirmed(server, traveller):
    """`prune` deletes plans, but none that is being confirmed."""
    planned = traveller.done("POST", "/imports", json.loads(SPLITWISE_API))
    done = traveller.done("POST", f"/imports/{planned['id']}/confirm")
    again = imported_again(traveller, done["tripId"])
    with ThreadPoolExecutor(1) as pool, holding(server, "trips_trip", done["tripId"]) as other:
        answer = pool.submit(traveller.call, "POST", f"/imports/{again['id']}/confirm")
        other.wait_for(1)
        free = "SELECT 1 FROM exchange_import WHERE id = %s FOR UPDATE SKIP LOCKED"
        assert other.run(free, again["id"]) == []
        other.commit()
        assert answer.result().status_code == 200


def imported_again(traveller, trip_id):
    """The plan to add a newer file to the trip that the older one made."""
    file = {"file": ("newer.json", SPLITWISE_API.replace('"id":7,', '"id":8,'))}
    sent = {"data": {"tripId": str(trip_id)}, "files": file}
    return traveller.http.post("/api/imports", headers=traveller.headers, **sent).json()


def test_a_guest_is_merged_while_an_import_that_names_them_waits_for_the_trip(server, traveller):
    """The import locks accounts before the trip, and the merge deletes the guest."""
    planned = traveller.done("POST", "/imports", json.loads(SPLITWISE_API))
    done = traveller.done("POST", f"/imports/{planned['id']}/confirm")
    ana, ben = (person["userId"] for person in done["people"])
    path, again = f"/trips/{done['tripId']}", imported_again(traveller, done["tripId"])
    assert [person["userId"] for person in again["people"]] == [ana, ben]
    other = traveller.done("POST", f"{path}/guests", {"name": "Cleo"})["user"]["id"]
    merge, confirm = while_locked(
        server,
        "trips_trip",
        done["tripId"],
        [
            lambda: traveller.call("POST", f"{path}/guests/{ana}/merge", {"userId": other}),
            lambda: traveller.call("POST", f"/imports/{again['id']}/confirm"),
        ],
    )
    assert merge.status_code == 200
    # Ana may be gone before the import asks for her, or while it waits; SQLite may let it go first.
    assert confirm.status_code in {200, 400, 404}


def test_an_account_is_deleted_while_its_import_is_confirmed(server, traveller):
    planned = traveller.done("POST", "/imports", json.loads(SPLITWISE_API))
    answers = while_locked(
        server,
        "users_user",
        traveller.id,
        [
            lambda: traveller.call("DELETE", "/users/me", {"password": PASSWORD}),
            lambda: traveller.call("POST", f"/imports/{planned['id']}/confirm"),
        ],
    )
    # SQLite may let the import go first; then nobody else is in the trip.
    assert [answer.status_code for answer in answers] in ([204, 404], [204, 401], [204, 200])
