"""Notices: the setting of an account, who is notified of what, and how many may wait."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plugins.notices.queueing import MAX_WAITING
from plugins.notices.tests.waiting import ALL, waiting, wanting
from tests.document import problem_of
from tests.factories import UserFactory, join, overwrite, spend
from tests.splits.ledger import Ledger
from users.mail_templates import first_notices
from users.models import Mail

# -- The setting -----------------------------------------------------------------------------------


def test_they_are_off_until_the_account_wants_them(api, olga):
    client = api(olga)
    at_first = client.get("/api/users/me").json()["notices"]
    assert at_first == {"email": "off", "events": first_notices().split()}
    assert at_first["events"][: len(ALL)] == ALL
    profile = f"/api/users/{olga.pk}/profile"
    changed = client.put(profile, {"notices": {"email": "daily", "events": ["split.paid"]}})
    assert changed.json()["notices"] == {"email": "daily", "events": ["split.paid"]}
    # What is not sent stays, and unknown names are ignored, as in all of the profile.
    client.put(profile, {"notices": {"email": "each", "mood": "good"}})
    client.put(profile, {"name": "Olga"})
    assert client.get("/api/users/me").json()["notices"] == {
        "email": "each",
        "events": ["split.paid"],
    }


def test_others_do_not_see_it(api, trip, olga, ed):
    assert api(ed).get(f"/api/users/{olga.pk}").json()["notices"] is None


@pytest.mark.parametrize(
    "notices",
    [
        {"email": "hourly"},
        {"events": ["split.paid"]},
        {"email": "each", "events": ["trip.deleted"]},
        {"email": "each", "events": "split.paid"},
        {"email": "each", "events": []},
        {"email": "each", "events": ALL * 20},
        "each",
        [],
    ],
)
def test_what_is_no_setting_is_refused(api, olga, notices):
    response = api(olga).put(f"/api/users/{olga.pk}/profile", {"notices": notices})
    assert "notices" in str(problem_of(response, 400)["errors"])
    olga.refresh_from_db()
    assert olga.notice_mode == "off"


# -- What is reported, and to whom -----------------------------------------------------------------


def test_each_event_notifies_those_whom_it_concerns_but_not_who_did_it(ledger, olga, ed, vera):
    for user in (olga, ed, vera):
        wanting(user)
    expense = ledger.spend(olga, 60, olga, ed)
    assert (waiting(olga), waiting(ed), waiting(vera)) == ([], ["EXPENSE_CREATED"], [])
    ledger.change(expense, olga, participantUserIds=[olga.pk, vera.pk])
    # Ed was in it before.
    assert waiting(ed) == ["EXPENSE_CREATED", "EXPENSE_CHANGED"]
    assert waiting(vera) == ["EXPENSE_CHANGED"]
    ledger.pay(ledger.split(expense, vera), by=olga)
    assert waiting(vera) == ["EXPENSE_CHANGED", "SPLIT_PAID"]
    assert waiting(olga) == []
    assert waiting(ed) == ["EXPENSE_CREATED", "EXPENSE_CHANGED"]


def test_a_change_that_changes_nothing_is_not_told(ledger, olga, ed):
    wanting(ed)
    expense = ledger.spend(olga, 60, olga, ed)
    ledger.change(expense, olga, amount=60, notes=expense["notes"])
    assert waiting(ed) == ["EXPENSE_CREATED"]


def test_who_pays_their_own_split_is_not_told(ledger, olga, ed):
    wanting(ed)
    ledger.pay(ledger.split(ledger.spend(olga, 60, olga, ed), ed), by=ed)
    assert waiting(ed) == ["EXPENSE_CREATED"]


def test_a_split_that_is_added_or_deleted_changes_the_expense(ledger, olga, ed):
    expense = ledger.spend(olga, 60, olga, ed)
    wanting(ed)
    ledger.delete_split(ledger.split(expense, ed), olga)
    assert waiting(ed) == ["EXPENSE_CHANGED"]
    Mail.objects.all().delete()
    ledger.add_split(expense, olga, ed, amount=5)
    assert waiting(ed) == ["EXPENSE_CHANGED"]


def test_who_is_added_to_a_trip_is_told_but_not_who_joins_it(api, trip, olga, sam):
    nina = wanting(UserFactory())
    wanting(sam)
    api(olga).post(f"/api/trips/{trip.pk}/members", {"userId": sam.pk})
    api(nina).post("/api/trips/join", {"tripCode": trip.code})
    assert (waiting(sam), waiting(nina)) == (["MEMBER_ADDED"], [])


def test_nobody_is_told_who_does_not_want_it_or_may_not_get_mail(ledger, trip, olga, ed, vera):
    off, unconfirmed, inactive, other = UserFactory.create_batch(4)
    for user in (off, unconfirmed, inactive, other):
        join(trip, user)
    wanting(off, mode="off")
    overwrite(wanting(unconfirmed), email_verified_at=None)
    overwrite(wanting(inactive), is_active=False)
    wanting(other, events="member.added split.paid")
    ledger.change(ledger.spend(olga, 60, off, unconfirmed, inactive, other), olga, amount=80)
    for user in (off, unconfirmed, inactive, other):
        assert waiting(user) == []


def test_who_left_the_trip_is_not_told(ledger, olga, vera):
    wanting(vera)
    expense = ledger.spend(olga, 60, olga, vera)
    ledger.pay(ledger.split(expense, vera), by=vera)
    Mail.objects.all().delete()
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    ledger.change(expense, olga, notes="Nice.")
    assert waiting(vera) == []


def test_a_command_that_fails_tells_nobody(ledger, olga, ed):
    wanting(ed)
    body = ledger.expense_body(60, olga, ed, payers=[{"userId": olga.pk, "amount": 1}])
    assert ledger.answer(olga, "post", "expenses", body).status_code == 400
    assert not Mail.objects.exists()


# -- How much there may be -------------------------------------------------------------------------


def test_the_same_notice_waits_once_and_their_number_is_limited(ledger, trip, olga, ed):
    wanting(ed, mode="daily")
    expense = ledger.spend(olga, 60, olga, ed)
    for amount in (70, 80, 90):
        ledger.change(expense, olga, amount=amount)
    assert waiting(ed) == ["EXPENSE_CREATED", "EXPENSE_CHANGED"]
    for _number in range(MAX_WAITING):
        spend(trip, 1000, paid_by=olga, among=[ed])
    assert len(waiting(ed)) == MAX_WAITING


@pytest.mark.parametrize("people", [1, 8])
def test_notifying_one_or_many_takes_the_same_statements_and_nobody_none(api, trip, olga, people):
    users = UserFactory.create_batch(people)
    for user in users:
        join(trip, user)
    client, body = api(olga), Ledger.expense_body(62.53, *users)

    def statements():
        with CaptureQueriesContext(connection) as captured:
            assert client.post(f"/api/trips/{trip.pk}/expenses", body).status_code == 201
        assert not [q for q in captured if "users_mail" in q["sql"]] or Mail.objects.exists()
        return len(captured)

    statements()
    quiet = statements()
    for user in users:
        wanting(user)
    assert statements() == quiet + 2
    assert Mail.objects.count() == people


def test_paying_takes_no_statement_more_if_notices_are_off(api, trip, olga, ed):
    client = api(olga)

    def statements():
        expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
        split = expense.splits.get(participant=ed)
        with CaptureQueriesContext(connection) as captured:
            path = f"/api/expenses/{expense.pk}/splits/{split.pk}/pay"
            assert client.put(path).status_code == 200
        return len(captured)

    statements()
    quiet = statements()
    wanting(ed)
    assert statements() == quiet + 2
