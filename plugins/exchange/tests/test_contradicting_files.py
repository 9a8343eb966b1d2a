"""A file of a trip that contradicts itself makes nothing."""

import json
from contextlib import nullcontext
from datetime import datetime, timedelta, timezone

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from plugins.exchange import restoring
from plugins.exchange.description import UnreadableFile
from plugins.exchange.tests.copies import copied, file_of, forged
from splits.models.debt import TooManyDebts
from splits.models.in_trip import added_rows
from tests.factories import settle
from tests.test_costs import inserted
from tripcompanion.api.problems import LimitReached
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.either


@pytest.mark.parametrize(
    ("table", "fields"),
    [
        ("trip", {"imageUrl": "javascript:alert(1)"}),
        ("trip", {"currency": "XYZ"}),
        ("trip", {"expensesRecorded": 0}),
        ("trip", {"expensesRecorded": 2**31 - 1}),
        ("trip", {"id": "1"}),
        ("people", {"name": ""}),
        ("people", {"id": "one"}),
        ("people", {"id": 2**70}),
        ("history", {"byId": None, "authorName": "x" * 51}),
        ("members", {"paid": 1_000_000}),
        ("expenses", {"amount": 10.02}),
        ("expenses", {"description": "x" * 256}),
        ("expenses", {"description": " "}),
        ("expenses", {"receiptUrl": "ftp://example.com/x"}),
        ("expenses", {"receiptUrl": "data:text/html,x"}),
        ("expenses", {"id": 2**70}),
        ("expenses", {"currency": {"EUR": 1}}),
        ("settlements", {"id": []}),
        ("payers", {"userId": 1_000_000}),
        ("splits", {"amount": 3.335}),
        ("splits", {"participantId": True}),
        ("debts", {"open": 0.01}),
        ("debts", {"coveredAt": None}),
        ("settlements", {"credit": 1}),
        ("allocations", {"amount": 1}),
        ("allocations", {"settlementId": None}),
        ("comments", {"text": "x" * 2001}),
        ("comments", {"createdAt": "2026-05-14T10:00:00"}),
        *(("trip", {"title": ...}), ("people", {"name": ...}), ("members", {"userId": ...})),
        *(("splits", {"expenseId": ...}), ("allocations", {"amount": ...})),
        ("history", {"event": ...}),
        ("history", {"number": 2}),
        ("history", {"changes": {"amount": 5}}),
        ("history", {"changes": {"description": {"old": {"description": 1}, "new": 2}}}),
        ("history", {"event": "settlement.deleted", "changes": {}}),
        ("history", {"event": "trip.stolen"}),
        ("history", {"at": "0001-01-01T00:00:00+14:00"}),
        ("history", {"at": "9999-12-31T23:59:59-14:00"}),
        ("expenses", {"createdAt": "1969-12-31T23:59:59Z"}),
        ("members", {"joinedAt": "2101-01-01T00:00:00Z"}),
        ("history", {"byId": 1_000_000}),
        ("history", {"objectId": 2**63}),
        ("history", {"expenseId": 2**63}),
        ("history", {"changes": {"toUserId": {"old": None, "new": -(2**63)}}}),
    ],
)
def test_a_file_that_contradicts_itself_makes_nothing(api, lived, olga, table, fields):
    content = forged(file_of(api, lived, olga), table, -1 if table == "people" else 0, **fields)
    with pytest.raises(UnreadableFile):
        copied(content, olga)
    assert Trip.objects.count() == 1
    assert not User.objects.filter(is_guest=True, memberships=None).exists()


@pytest.mark.parametrize("table", ["people", "expenses", "settlements"])
@pytest.mark.parametrize("row", [7, None, "again"])
def test_a_row_that_is_none_or_stands_twice_makes_nothing(api, lived, olga, table, row):
    held = json.loads(file_of(api, lived, olga))
    held[table].append(held[table][0] if row == "again" else row)
    with pytest.raises(UnreadableFile):
        copied(json.dumps(held).encode(), olga)
    assert Trip.objects.count() == 1


def test_one_id_of_two_rows_is_refused_although_all_amounts_are_right(api, plan, trip, olga, ed):
    settle(trip, ed, olga, 500)
    settle(trip, ed, olga, 500)
    held = json.loads(file_of(api, trip, olga))
    held["settlements"][1]["id"] = held["settlements"][0]["id"]
    path = plan(json.dumps(held), asNewTrip=True)["Location"]
    answer = api(olga).post(f"{path}/confirm")
    assert (answer.status_code, answer.json()["code"]) == (400, "unreadable")
    assert Trip.objects.count() == 1


def test_a_copy_counts_in_the_quota_of_trips(api, lived, olga, settings):
    content = file_of(api, lived, olga)
    settings.QUOTA_TRIPS = 1
    with pytest.raises(LimitReached):
        copied(content, olga)
    assert Trip.objects.count() == 1


def test_another_version_is_refused(api, lived, olga):
    content = file_of(api, lived, olga).replace(b'"version":1', b'"version":2')
    with pytest.raises(UnreadableFile) as refused:
        copied(content, olga)
    assert refused.value.code == "unknown_version"


@pytest.mark.parametrize("pk", ["abc", 1.5, None, True])
def test_a_person_without_a_proper_id_is_refused_when_it_is_planned(api, plan, lived, olga, pk):
    answer = plan(forged(file_of(api, lived, olga), "people", 0, id=pk), asNewTrip=True)
    assert (answer.status_code, answer.json()["reason"]) == (400, "bad_value")


def test_a_file_has_only_so_many_people(api, lived, olga, settings):
    settings.QUOTA_MEMBERS = 5
    held = json.loads(file_of(api, lived, olga))
    strangers = 50 - len(held["people"])
    rows = [{"id": 10**6 + at, "name": "Ann", "email": None, "guest": True} for at in range(51)]
    for more, is_refused in ((strangers, False), (strangers + 1, True)):
        content = json.dumps({**held, "people": [*held["people"], *rows[:more]]}).encode()
        with pytest.raises(LimitReached) if is_refused else nullcontext():
            assert copied(content, olga).members.count() == 50


def test_a_file_that_is_too_large_is_refused_before_the_first_write(api, lived, olga, monkeypatch):
    content = file_of(api, lived, olga)
    held = json.loads(content)
    open_debts = sum(row["open"] > 0 for row in held["debts"])
    assert min(len(held["comments"]), open_debts) > 0
    for holder, name, limit, refused in (
        (restoring.settings, "QUOTA_MEMBERS", len(held["members"]) - 1, LimitReached),
        (restoring, "MAX_OPEN_DEBTS", open_debts - 1, TooManyDebts),
    ):
        for fits in (False, True):
            with monkeypatch.context() as patch, CaptureQueriesContext(connection) as captured:
                patch.setattr(holder, name, limit + fits)
                with nullcontext() if fits else pytest.raises(refused):
                    copied(content, olga)
            assert fits or inserted(captured) == []


def test_a_file_with_too_many_rows_of_an_expense_is_refused(api, lived, olga, monkeypatch):
    content, known = file_of(api, lived, olga), added_rows()
    for limit, expected in ((0, pytest.raises(LimitReached)), (1, nullcontext())):
        rows = {name: one._replace(limit=limit) for name, one in known.items()}
        monkeypatch.setattr(restoring, "added_rows", lambda rows=rows: rows)
        with expected:
            copied(content, olga)


def test_an_offset_that_no_place_has_is_read(api, lived, olga):
    content = file_of(api, lived, olga)
    at = json.loads(content)["history"][0]["at"]
    moved = datetime.fromisoformat(at).astimezone(timezone(timedelta(hours=23, minutes=59)))
    copy = copied(forged(content, "history", 0, at=moved.isoformat()), olga)
    assert copy.journal.get(number=1).at == datetime.fromisoformat(at)


def test_a_failure_of_the_database_is_not_one_of_the_file(api, lived, olga, monkeypatch):
    content = file_of(api, lived, olga)

    def fail(*_args):
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr(restoring, "differences", fail)
    with pytest.raises(OperationalError):
        copied(content, olga)
