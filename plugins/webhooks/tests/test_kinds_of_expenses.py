"""Every kind of expense: whoever hears of it gets what is shown, and it outlives what happens."""

import pytest

from plugins.sync.tests.client import Replica, lists
from plugins.webhooks.sending import deliver
from plugins.webhooks.tests.hooks import bodies
from splits.models import DailyRate
from splits.reports.audit import differences
from tests.factories import PASSWORD, TripFactory, join
from tests.splits.ledger import Json, Ledger
from trips.roles import TripRole

pytestmark = pytest.mark.either

OLGA, ED = "{olga}", "{ed}"
BOTH = {OLGA: 1, ED: 2}
ITEMS = [
    {"name": "Fish", "amount": 50, "shares": BOTH},
    {"name": "Tea", "amount": 7, "shares": {ED: 1}},
]
#: The fields of an expense of 60.00 that differ from an equal division.
KINDS: dict[str, Json] = {
    "items": {"splitType": "ITEMIZED", "items": ITEMS, "tax": 2, "tip": 3, "discount": 2},
    "adjustment": {"splitType": "ADJUSTMENT", "splitAmounts": {ED: 10.01}},
    "refund": {"amount": -60},
    "refund by items": {
        "splitType": "ITEMIZED",
        "amount": -60,
        "items": [{"name": "Deposit", "amount": -60, "shares": BOTH}],
    },
    "rate of the day": {"currency": "JPY", "amount": 10001},
    "default division": {"splitType": None, "participantUserIds": None},
    "tags": {"tags": ["Wine", "naïve"]},
    "copy": {"tags": ["x"]},
    "move": {"splitType": "SHARES", "splitAmounts": BOTH},
}


@pytest.fixture(params=KINDS)
def recorded(request, api, trip, olga, ed, hook, receiver):
    """An expense of this kind, recorded by Olga, and the copy that a client of hers has."""
    ledger, kind = Ledger(trip, api, olga), request.param
    DailyRate.objects.create(currency="JPY", day="2026-05-13", per_euro=160)
    division = {"splitType": "SHARES", "participantUserIds": [olga.pk, ed.pk]}
    division["splitAmounts"] = {str(olga.pk): 1, str(ed.pk): 2}
    assert api(olga).patch(ledger.url, {"defaultDivision": division}).status_code == 200
    deliver()
    client = Replica(api(olga))
    body = ledger.expense_body(60, olga, ed, **_named(KINDS[kind], olga, ed))
    if body["splitType"] == "ITEMIZED":
        del body["participantUserIds"]
    path = "expenses"
    if kind in {"copy", "move"}:
        other = TripFactory()
        for user in (olga, ed):
            join(other, user, TripRole.OWNER)
        made = api(olga).post(f"/api/trips/{other.pk}/expenses", body).json()
        path, body = f"/api/trips/{other.pk}/expenses/{made['id']}/{kind}", {"tripId": trip.pk}
    answer = ledger.answer(olga, "post", path, body)
    assert answer.status_code == 201, answer.content
    if kind == "copy":
        # What Ed owes there would keep his account from being deleted.
        assert api(olga).delete(path.removesuffix("/copy")).status_code == 204
    shown = ledger.expense(answer.json())
    return {"ledger": ledger, "client": client, "shown": shown}


def _named(fields, olga, ed):
    if isinstance(fields, dict):
        ids = {OLGA: str(olga.pk), ED: str(ed.pk)}
        return {ids.get(key, key): _named(value, olga, ed) for key, value in fields.items()}
    return [_named(one, olga, ed) for one in fields] if isinstance(fields, list) else fields


def test_webhooks_changes_and_history_tell_it(api, recorded, olga, receiver):
    ledger, client, shown = recorded["ledger"], recorded["client"], recorded["shown"]
    path = f"expenses/{shown['id']}"
    deliver()
    assert bodies(receiver)[-1]["state"] == shown
    client.catch_up()
    assert client.shown() == lists(api(olga))
    assert ledger.answer(olga, "delete", path).status_code == 204
    client.catch_up()
    assert (ledger.trip.pk, "expense", shown["id"]) not in client.objects
    assert ledger.answer(olga, "post", f"{path}/restore").status_code == 200
    again = ledger.expense(shown)
    assert again | {"updatedAt": ""} == shown | {"updatedAt": ""}
    client.catch_up()
    assert client.shown() == lists(api(olga))
    deliver()
    assert [body["event"] for body in bodies(receiver)][-3:] == [
        *("expense.created", "expense.deleted", "expense.restored")
    ]
    assert bodies(receiver)[-1]["state"] == again
    texts = [
        row["text"] for row in ledger.answer(olga, "get", "history?pageSize=3").json()["items"]
    ]
    assert all("Dinner in Alfama" in text for text in texts), texts
    assert list(differences(ledger.trip.pk)) == []


def test_no_amount_changes_when_an_account_is_deleted(api, recorded, ed):
    ledger, shown = recorded["ledger"], recorded["shown"]
    for row in ledger.plan():
        sides = {"fromUserId": row["from"]["id"], "toUserId": row["to"]["id"]}
        body = {**sides, "amount": row["amount"]}
        assert ledger.answer(ed, "post", "settlements", body).status_code == 201
    before = ledger.expense(shown)
    done = api(ed).delete("/api/users/me", {"password": PASSWORD})
    assert done.status_code == 204, done.content
    after = ledger.expense(shown)
    for row in (*before["splits"], *after["splits"]):
        row["participant"] = row["participant"]["id"]
    assert after["splits"] == before["splits"]
    for name in ("amount", "tripAmount", "items", "tax", "tip", "discount", "tags", "exchangeRate"):
        assert after[name] == before[name]
    assert list(differences(ledger.trip.pk)) == []
