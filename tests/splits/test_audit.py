"""`manage.py audit_ledger` names every difference, and is silent when there is none."""

from contextlib import suppress
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from splits.models import Allocation, Debt, Expense, Payer, Settlement, Split
from splits.reports.audit import differences
from tests.factories import join, owned_trip, settle, spend
from trips.models import Member
from trips.roles import TripRole


@pytest.fixture
def recorded(trip, olga, ed, vera):
    """An expense of Olga's in part paid by Ed, and credit of Vera's."""
    expense = spend(trip, 10_000, paid_by=olga, among=[olga, ed, vera])
    settle(trip, ed, olga, 1_000)
    settle(trip, vera, olga, 5_000, by=ed)
    return expense


def audit(*arguments):
    """What the command complains about; "" if nothing."""
    err = StringIO()
    with suppress(CommandError):
        call_command("audit_ledger", *arguments, stdout=StringIO(), stderr=err)
    return err.getvalue()


def test_it_is_silent_about_a_ledger_that_is_right(recorded):
    assert audit() == ""


def test_an_empty_database_is_right(db):
    assert audit() == ""


@pytest.mark.parametrize(
    ("rows", "change", "complaint"),
    [
        (Split, {"amount_minor": F("amount_minor") - 1}, "split of user"),
        (Payer, {"amount_minor": F("amount_minor") + 1}, "payers paid"),
        (Payer, {"entered_minor": F("entered_minor") + 1}, "payers paid"),
        (Expense, {"entered_minor": F("entered_minor") + 1}, "converted it is"),
        (Expense, {"number": F("number") + 1}, "split of user"),
        (Debt, {"amount_minor": F("amount_minor") + 1}, "owes user"),
        (Settlement, {"amount_minor": F("amount_minor") + 1}, "is credit"),
        (Allocation, {"amount_minor": F("amount_minor") - 1}, "is covered"),
        (Allocation, {"amount_minor": F("amount_minor") - 1}, "is used"),
        (Member, {"paid_minor": F("paid_minor") + 1}, "paid_minor is"),
        (Member, {"share_minor": F("share_minor") + 1}, "share_minor is"),
        (Member, {"sent_minor": F("sent_minor") + 1}, "sent_minor is"),
        (Member, {"received_minor": F("received_minor") + 1}, "received_minor is"),
        (Member, {"owed_minor": F("owed_minor") + 1}, "owed_minor is"),
        (Member, {"paid_minor": F("paid_minor") + 1}, "balances add up to"),
    ],
)
def test_whatever_was_changed_behind_its_back_is_named(recorded, rows, change, complaint):
    rows.objects.update(**change)
    assert complaint in audit()


def test_it_fails_when_there_is_a_difference(recorded):
    Debt.objects.update(amount_minor=F("amount_minor") + 1)
    with pytest.raises(CommandError, match="differences in 1 trips"):
        call_command("audit_ledger", stderr=StringIO())


class Terminal(StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_the_progress_and_a_log_does_not(recorded, monkeypatch):
    Debt.objects.update(amount_minor=F("amount_minor") + 1)
    monkeypatch.setenv("COLUMNS", "80")
    for screen in (Terminal(), StringIO()):
        monkeypatch.setattr("sys.stderr", screen)
        with pytest.raises(CommandError, match="differences in 1 trips"):
            call_command("audit_ledger", stdout=StringIO())
        assert "owes user" in screen.getvalue()
        is_shown = "Expenses:   0%" in screen.getvalue() and "0/2 [" in screen.getvalue()
        assert is_shown is screen.isatty()


def test_rows_that_are_gone_are_missed(recorded):
    Allocation.objects.all().delete()
    assert "0 is covered" in audit()


def test_a_debt_of_somebody_else_is_named(recorded, sam):
    Debt.objects.filter(pk=Debt.objects.first().pk).update(debtor=sam)
    complaints = audit()
    assert "does not match its split" in complaints
    assert "different people" in complaints


def test_an_entry_of_somebody_who_never_was_a_member_is_named(recorded, trip, ed):
    Member.objects.filter(trip=trip, user=ed).delete()
    assert f"user {ed.pk} has entries but no membership" in audit()


@pytest.fixture
def closed(trip, olga, ed):
    """The settlement that closed what Olga and Ed owe each other."""
    for payer, debtor in ((olga, ed), (ed, olga)):
        spend(trip, 900, paid_by=payer, among=[debtor])
    settle(trip, ed, olga, 100)
    return settle(trip, olga, ed, 100, by=ed)


@pytest.mark.parametrize(
    ("rows", "change", "complaint"),
    [
        (Allocation, {"amount_minor": F("amount_minor") + 1}, "902 is covered"),
        (Debt, {"open_minor": 1, "covered_at": None}, "1 of 900 is open"),
        (Settlement, {"credit_minor": 1}, "1 of 100 is credit"),
        (Member, {"owed_minor": 800}, "owed_minor is 800, it should be 0"),
    ],
)
def test_whatever_was_changed_about_a_closing_is_named(closed, rows, change, complaint):
    assert audit() == ""
    rows.objects.update(**change)
    assert complaint in audit()


def test_what_a_settlement_of_another_trip_closed_is_named(closed, trip, olga, ed):
    other = owned_trip(olga)
    join(other, ed)
    stray = settle(other, ed, olga, 5)
    Settlement.with_offsets.filter(closing=closed).update(closing=stray)
    row = Settlement.with_offsets.filter(closing=stray).earliest("pk")
    assert f"Settlement {row.pk} is stored as one of trip {trip.pk}" in audit()


def test_debts_and_credit_that_do_not_make_the_balances_are_named(closed, olga, ed):
    """Every row is right by itself: somebody has credit that nobody gave."""
    rows = Settlement.with_offsets.filter(closing=closed, sender=olga)
    more = {name: F(name) + 1 for name in ("amount_minor", "credit_minor")}
    rows.update(**more)
    found = audit()
    for user, minor in ((olga, 1), (ed, -1)):
        text = f"user {user.pk}: the balance is 0, open debts and credit make {minor}\n"
        assert text in found
        assert f"closing {closed.pk}: it leaves user {user.pk} {minor}\n" in found
    assert found.count("\n") == 4


def test_so_many_statements_audit_a_trip(closed, trip):
    """Of a small trip, they take all of the time."""
    with CaptureQueriesContext(connection) as queries:
        assert list(differences(trip.pk)) == []
    assert len([query for query in queries if query["sql"].startswith("SELECT")]) <= 24


def test_one_trip_can_be_audited_alone(recorded, trip, sam):
    other = owned_trip(sam)
    Member.objects.filter(trip=trip).update(paid_minor=F("paid_minor") + 1)
    assert audit("--trip", str(other.pk)) == ""
    assert audit("--trip", str(trip.pk)) == audit()
    with pytest.raises(CommandError, match="There is no trip 999"):
        call_command("audit_ledger", "--trip", "999")


def test_a_trip_without_an_owner_is_named_once(trip):
    trip.members.update(role=TripRole.EDITOR)
    assert audit().count("no owner") == 1
