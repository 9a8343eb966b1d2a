"""The table of dear requests: as often as its limits allow, none burns a quarter of a core.

With SQLite, the time of the database is that of the process.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from math import inf
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.db.models import F
from rest_framework.test import APIClient

from splits.models import Debt
from splits.reports.balances import Plan
from tests.factories import settle
from tests.scoped import ALL, script_of
from tests.stored import rolled_back
from tests.walked import answers, merged, urlconf
from tests.wide import Wide, copies, wide_account
from tripcompanion.api import throttling
from tripcompanion.database.models import ThrottleCounter
from trips.models import Trip

pytestmark = [pytest.mark.once, pytest.mark.slow]

MOST_OF_A_CORE = 0.25
PEOPLE, EXPENSES = 200, 3_000
GENERAL = (600, 60)
TRIP = "/api/trips/{trip_id}"


def expense(wide, people=PEOPLE, **more):
    ids = list(wide.trip.members.values_list("user", flat=True)[:people])
    body = {"description": "Boat", "amount": 62.53, "expenseDate": "2026-05-14", **more}
    return {**body, "splitType": "EQUAL", "participantUserIds": ids}


#: What is dear by its method, path and body, and the quota and seconds of its limit.
DEAR: dict[str, tuple[str, str, Callable[[Wide], Any], tuple[int, int]]] = {
    "an expense among 200": ("post", f"{TRIP}/expenses", expense, GENERAL),
    "a preview among 200": ("post", f"{TRIP}/expenses/preview", expense, GENERAL),
    "20 payers": (
        "post",
        f"{TRIP}/expenses",
        lambda wide: expense(
            wide,
            amount=20,
            payers=[{"userId": pk, "amount": 1} for pk in expense(wide, 20)["participantUserIds"]],
        ),
        GENERAL,
    ),
    "a settle-up": (
        "post",
        f"{TRIP}/settle-up",
        lambda wide: {"tag": Plan(wide.trip).tag},
        GENERAL,
    ),
    "a payment": (
        "post",
        f"{TRIP}/settlements",
        lambda wide: {
            "fromUserId": wide.friend.pk,
            "toUserId": wide.owner.pk,
            "amount": 1_000,
            "settledOn": "2026-05-14",
        },
        GENERAL,
    ),
    "the deletion of a payment": (
        "delete",
        f"{TRIP}/settlements/{{settlement_id}}",
        lambda _wide: None,
        GENERAL,
    ),
    "a page of 100": ("get", f"{TRIP}/expenses?pageSize=100", lambda _wide: None, GENERAL),
    **merged("DEAR"),
}


@pytest.fixture(autouse=True)
def _one_window():
    with time_machine.travel(datetime(2026, 5, 14, 12, 0, 20, tzinfo=UTC), tick=False):
        yield


@pytest.fixture
def wide(db, settings):
    settings.ROOT_URLCONF = urlconf()
    settings.QUOTA_TRIPS = 10_000
    made = wide_account(2, PEOPLE)
    first = copies(made.expense, EXPENSES, number=f"{made.expense.number} + n")
    Trip.objects.filter(pk=made.trip.pk).update(expenses_recorded=EXPENSES + 1)
    row, owed = {"expense_id": f"{first} + n"}, EXPENSES * 100
    copies(made.expense.payers.get(), EXPENSES, **row)
    for split in made.expense.splits.all():
        split_ids = copies(split, EXPENSES, **row)
        for debt in Debt.objects.filter(split=split):
            copies(debt, EXPENSES, split_id=f"{split_ids} + n")
    of_friend = made.trip.members.filter(user=made.friend)
    of_friend.update(share_minor=F("share_minor") + owed, owed_minor=F("owed_minor") + owed)
    of_owner = made.trip.members.filter(user=made.owner)
    of_owner.update(paid_minor=F("paid_minor") + 2 * owed, share_minor=F("share_minor") + owed)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return made


class Timed:
    """The service, as a client of the tests calls it; `spent` is its least processor time."""

    def __init__(self, handler):
        self._handler, self.spent = handler, inf

    def __call__(self, environ):
        started = time.thread_time()
        response = self._handler(environ)
        self.spent = min(self.spent, time.thread_time() - started)
        return response


def test_no_dear_request_burns_a_quarter_of_a_core(wide, api, limits):
    """T209: No account keeps a quarter of a processor busy."""
    limits(user="600/min", export="60/hour", **{"import": "30/hour"})
    # It covers a third of the debts.
    paid = settle(wide.trip, wide.friend, wide.owner, EXPENSES * 100 // 3)
    ids = {
        **wide.ids,
        "settlement_id": paid.pk,
        **{name: pk for ids in answers("dear_ids") for name, pk in ids(wide.owner).items()},
    }
    script = APIClient(HTTP_AUTHORIZATION=f"Bearer {script_of(wide.owner, *ALL).token}")
    burnt = {}
    for name, (method, path, body_of, (quota, seconds)) in DEAR.items():
        client = script if "/v3.0/" in path else api(wide.owner)
        url, body = path.format(**ids), body_of(wide)
        send, client.handler = getattr(client, method), Timed(client.handler)
        for _time in range(2):
            with rolled_back():
                send(url, body)  # what is compiled once, is now
        with rolled_back():
            charged = _charged(lambda s=send, u=url, b=body: s(u, b), api(wide.owner), quota)
        burnt[name] = round(client.handler.spent * quota / charged / seconds, 3)
    assert {name: share for name, share in burnt.items() if share > MOST_OF_A_CORE} == {}, sorted(
        burnt.items()
    )


def _charged(call, client, quota):
    """How many requests of an unused window a request counts as."""
    cache.clear()
    ThrottleCounter.objects.all().delete()
    throttling._exceeded.clear()
    response = call()
    assert response.status_code in {200, 201, 204}, response.content
    if quota != GENERAL[0]:
        return quota - _left(response)
    # An answer is counted after it is written, so the next one tells.
    return quota - 1 - _left(client.get("/api/users/me"))


def _left(response):
    return int(response["RateLimit"].partition(";r=")[2].partition(";")[0])
