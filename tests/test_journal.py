"""Nothing changes a trip without a row in its journal, and the journal tells the whole trip."""

import pytest

from tests.replay import assert_replayed
from tests.splits.ledger import exact
from tests.stored import everything_stored
from tests.trips.access import Scene, call
from tests.trips.rows import ROWS
from tests.walked import answers, merged
from trips.models import JournalEntry, Trip
from users.models import User

pytestmark = pytest.mark.either

#: Who sends a request, if it is not Olga.
CALLERS = {
    "DELETE /api/users/me": "ed",
    "DELETE /api/users/{user_id}": "ada",
    "PUT /api/users/{user_id}": "ada",
    "PUT /api/users/{user_id}/profile": "ada",
    **merged("CALLERS"),
}
SPLITS = "/api/expenses/{expense_id}/splits"
#: The rows that each writing request of `rows.ROWS` makes; all others make none.
WRITTEN = {
    "DELETE /api/users/me": ["member.left"],
    "DELETE /api/users/{user_id}": ["member.left"],
    "POST /api/trips": ["trip.created", "member.joined"],
    "PUT /api/trips/{trip_id}": ["trip.changed"],
    "PATCH /api/trips/{trip_id}": ["trip.changed"],
    "DELETE /api/trips/{trip_id}": ["trip.deleted"],
    "POST /api/trips/{trip_id}/restore": ["trip.restored"],
    "POST /api/trips/{trip_id}/members": ["member.added"],
    "POST /api/trips/{trip_id}/members/leave": ["member.left"],
    "DELETE /api/trips/{trip_id}/members/{user_id}": ["member.removed"],
    "PUT /api/trips/{trip_id}/members/{user_id}/role": ["member.role_changed"],
    "POST /api/trips/{trip_id}/guests": ["guest.added"],
    "PUT /api/trips/{trip_id}/guests/{user_id}": ["guest.renamed"],
    "POST /api/trips/{trip_id}/expenses": ["expense.created"],
    "PUT /api/trips/{trip_id}/expenses/{expense_id}": ["expense.changed"],
    "PATCH /api/trips/{trip_id}/expenses/{expense_id}": ["expense.changed"],
    "DELETE /api/trips/{trip_id}/expenses/{expense_id}": ["expense.deleted"],
    "POST /api/trips/{trip_id}/expenses/{expense_id}/restore": ["expense.restored"],
    "POST /api/trips/{trip_id}/settlements": ["settlement.created"],
    "DELETE /api/trips/{trip_id}/settlements/{settlement_id}": ["settlement.deleted"],
    "POST /api/trips/{trip_id}/settlements/{settlement_id}/restore": ["settlement.restored"],
    "POST /api/trips/{trip_id}/settle-up": ["settlement.created"],
    f"POST {SPLITS}": ["split.added"],
    f"DELETE {SPLITS}/{{split_id}}": ["split.deleted"],
    f"PUT {SPLITS}/{{split_id}}/pay": ["split.paid", "settlement.created"],
    f"PUT {SPLITS}/{{split_id}}/unpay": ["split.unpaid", "settlement.deleted"],
    **merged("WRITTEN"),
}


@pytest.fixture
def cast(olga, ed, vera, sam, ada):
    return {"olga": olga, "ed": ed, "vera": vera, "sam": sam, "ada": ada}


def trips_stored():
    """All rows of trips and their ledgers, without the journal, and who is told of it."""
    without = (JournalEntry._meta.label, "splits.Webhook")
    return {
        name: rows
        for name, rows in everything_stored().items()
        if name.startswith(("trips.", "splits.")) and not name.startswith(without)
    }


def new_events(act):
    """The events of the rows that `act` writes, in their order."""
    known = set(JournalEntry.objects.values_list("pk", flat=True))
    act()
    rows = JournalEntry.objects.exclude(pk__in=known).order_by("pk")
    return list(rows.values_list("event", flat=True))


@pytest.mark.either
@pytest.mark.parametrize("row", [row for row in ROWS if row.method != "GET"], ids=str)
def test_every_request_that_changes_a_trip_writes_what_it_did(api, cast, trip, row):
    """T159: Every command that changes a trip writes exactly its rows of the journal."""
    caller = cast[CALLERS.get(str(row), "olga")]
    scene = Scene(trip, caller, own=caller == cast["olga"])
    ids, body = scene.ids(row.route), row.body(scene)
    if str(row) == "DELETE /api/users/me":
        trip.expenses.all().delete()
    if row.route.endswith("/unpay"):
        scene.expense.splits.get(pk=ids["split_id"]).pay(by=cast["olga"])
    if row.route == "/api/trips/{trip_id}/expenses/{expense_id}" and row.method == "PUT":
        body = {**body, "notes": "Nice."}
    if row.route.endswith("/role"):
        body = {"role": "VIEWER"}
    client, before = api(caller), trips_stored()
    statuses = []

    def act():
        statuses.append(call(client, row.method, row.route.format(**ids), body).status_code)

    assert new_events(act) == WRITTEN.get(str(row), [])
    if str(row) in WRITTEN:
        assert statuses[0] < 300
    else:
        assert trips_stored() == before


def test_the_table_names_only_what_there_is():
    assert set(WRITTEN) <= {str(row) for row in ROWS}


# -- Replaying -------------------------------------------------------------------------------------


def test_replaying_a_journal_gives_what_the_api_shows(api, olga, ed, vera, sam, ada):
    """One of everything that can be done to a trip through the API."""
    clients = {user: api(user) for user in (olga, ed, vera, sam)}

    def done(user, method, path, body=None):
        response = getattr(clients[user], method)(path, body)
        assert response.status_code < 300, response.content
        return exact(response) if response.content else None

    start = {"startDate": "2026-05-14", "endDate": "2026-05-18", "budget": "900.50"}
    made = done(olga, "post", "/api/trips", {"title": "A", "destination": "Lisbon", **start})
    url = f"/api/trips/{made['id']}"
    done(olga, "patch", url, {"title": "B", "budget": None, "imageUrl": "/b.webp"})
    Trip.objects.get(pk=made["id"]).renew_code(olga)
    for user in (ed, vera):
        done(olga, "post", f"{url}/members", {"userId": user.pk})
    done(olga, "put", f"{url}/members/{ed.pk}/role", {"role": "EDITOR"})
    guest = done(ed, "post", f"{url}/guests", {"name": "Grandma"})["user"]["id"]
    expense = {"description": "Boat", "amount": 100, "expenseDate": "2026-05-14"}
    among = {"splitType": "EQUAL", "participantUserIds": [olga.pk, ed.pk, vera.pk, guest]}
    payers = [{"userId": guest, "amount": 40}, {"userId": olga.pk, "amount": 60}]
    boat = done(olga, "post", f"{url}/expenses", {**expense, **among, "payers": payers})
    shares = {"splitType": "PERCENTAGE", "splitAmounts": {str(ed.pk): 100}}
    dinner = done(ed, "post", f"{url}/expenses", {**expense, **shares,
                  "participantUserIds": [ed.pk], "currency": "EUR", "notes": "Late."})  # fmt: skip
    split = next(s for s in boat["splits"] if s["participant"]["id"] == vera.pk)
    done(vera, "put", f"/api/expenses/{boat['id']}/splits/{split['id']}/pay")
    done(olga, "patch", f"{url}/expenses/{boat['id']}",
         {"amount": 120, "payers": [{"userId": olga.pk, "amount": 120}]})  # fmt: skip
    splits = f"/api/expenses/{dinner['id']}/splits"
    done(ed, "delete", f"{splits}/{dinner['splits'][0]['id']}")
    done(ed, "post", splits, {"participantUserId": vera.pk, "percentage": 12.5})
    claims = answers("claim")
    for claim in claims:
        grandma, trip = User.objects.get(pk=guest), Trip.objects.get(pk=made["id"])
        assert claim(api, trip, olga, grandma, sam).status_code == 201
    if not claims:
        done(olga, "post", f"{url}/members", {"userId": sam.pk})
    sent = {"fromUserId": sam.pk, "toUserId": olga.pk, "amount": 5, "note": "Cash"}
    sent = done(sam, "post", f"{url}/settlements", sent)
    assert_replayed(api, ada, made["id"])
    done(olga, "delete", url)
    done(olga, "post", f"{url}/restore")
    assert_replayed(api, ada, made["id"])
    plan = clients[olga].get(f"{url}/settle-up")
    done(olga, "post", f"{url}/settle-up", {"tag": plan["ETag"].strip('"')})
    assert_replayed(api, ada, made["id"])
    done(vera, "post", f"{url}/members/leave")
    if claims:
        # Else it is part of what the plan closed.
        done(olga, "delete", f"{url}/settlements/{sent['id']}")
    done(ed, "delete", f"{url}/expenses/{dinner['id']}")
    assert_replayed(api, ada, made["id"])
