"""`audit_ledger --changed` audits every trip that was written since the last silent audit."""

import time
from contextlib import suppress
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F, Model
from django.test.utils import CaptureQueriesContext

from splits.models import (
    Allocation,
    AuditRun,
    Debt,
    Expense,
    Payer,
    Settlement,
    Split,
)
from splits.reports import changed
from splits.reports.audit import differences
from splits.reports.changed import changed_trips
from tests import citus
from tests.conftest import Api
from tests.factories import TripFactory, join, settle, spend
from trips.models import Member, Trip
from trips.roles import TripRole
from users.models import User

#: Each test commits, because all rows of one transaction are equally new.
pytestmark = pytest.mark.django_db(transaction=True)
is_one_server = settings.DATABASE_URL.startswith("postgres") and not citus.URL
postgresql = pytest.mark.skipif(
    not is_one_server, reason="rows of SQLite have no xmin, and each node of Citus has its own"
)

USE_UP_TRANSACTIONS = """
    CREATE TEMPORARY TABLE used (number integer);
    DO $$ BEGIN
        FOR number IN 1..4000 LOOP
            BEGIN INSERT INTO used VALUES (number);
            EXCEPTION WHEN division_by_zero THEN NULL; END;
        END LOOP;
    END $$
"""


def wait_for_others() -> None:
    """Until no transaction on the server is older than this call; while one is, more is new."""
    if not is_one_server:
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text::bigint")
        [mine] = cursor.fetchone()
    for _tick in range(300):
        if changed.snapshot_position() > mine:
            return
        time.sleep(0.1)
    pytest.skip("a transaction on this server takes longer than half a minute")


def audit(*arguments: str, waits: bool = True) -> tuple[str, str]:
    """What the command says and complains about."""
    if waits:
        wait_for_others()
    out, err = StringIO(), StringIO()
    with suppress(CommandError):
        call_command("audit_ledger", *arguments, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue()


@pytest.fixture
def closed(trip: Trip, olga: User, ed: User) -> Trip:
    """Olga's trip with a row in each table of the ledger, audited."""
    spend(trip, 10_000, paid_by=olga, among=[olga, ed])
    spend(trip, 6_000, paid_by=ed, among=[olga, ed])
    settle(trip, ed, olga, 2_000)
    spend(trip, 500, paid_by=olga, among=[olga, ed])
    settle(trip, ed, olga, 100)
    # A second trip, which nobody changes.
    join(TripFactory(), olga, TripRole.OWNER)
    assert audit() == ("2 trips, no difference.", "")
    return trip


@postgresql
def test_only_what_was_written_is_audited_again(
    closed: Trip, api: Api, olga: User, ed: User
) -> None:
    assert audit("--changed") == ("0 trips, no difference.", "")
    spend(closed, 900, paid_by=olga, among=[olga, ed])
    assert changed_trips() == [closed.pk]
    assert audit("--changed") == ("1 trips, no difference.", "")
    assert audit("--changed") == ("0 trips, no difference.", "")
    split = Split.objects.filter(participant=ed, debts__open_minor__gt=0).latest("pk")
    path = f"/api/expenses/{split.expense_id}/splits/{split.pk}"
    for way in (f"{path}/pay", f"{path}/unpay"):
        assert api(ed).put(way).status_code == 200
        assert audit("--changed") == ("1 trips, no difference.", "")
    assert (
        api(olga).delete(f"/api/trips/{closed.pk}/expenses/{split.expense_id}").status_code == 204
    )
    assert changed_trips() == [closed.pk]


@postgresql
@pytest.mark.parametrize(
    "rows",
    [Trip, Member, Expense, Payer, Split, Debt, Settlement, Allocation],
)
def test_a_row_that_was_changed_by_hand_is_found(closed: Trip, rows: type[Model]) -> None:
    oldest = rows._default_manager.earliest("pk")
    # Written again with the same values.
    rows._default_manager.filter(pk=oldest.pk).update(id=F("id"))
    assert changed_trips() == [closed.pk]


@postgresql
def test_a_difference_is_reported_until_it_is_gone(closed: Trip) -> None:
    Member.objects.filter(trip=closed).update(paid_minor=F("paid_minor") + 1)
    complaint = audit("--changed")[1]
    assert "paid_minor" in complaint
    spend(closed, 900, paid_by=closed.members.first().user, among=[closed.members.first().user])
    assert "paid_minor" in audit("--changed")[1]
    assert "paid_minor" in audit("--changed")[1]
    Member.objects.filter(trip=closed).update(paid_minor=F("paid_minor") - 1)
    assert audit("--changed") == ("1 trips, no difference.", "")


@postgresql
def test_a_change_that_was_not_committed_during_an_audit_is_not_missed(
    closed: Trip, olga: User
) -> None:
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("UPDATE trips_member SET paid_minor = paid_minor + 1")
            assert audit(waits=False) == ("2 trips, no difference.", "")
            assert audit("--changed", waits=False) == ("0 trips, no difference.", "")
        other.commit()
    finally:
        other.close()
    assert audit("--changed")[1].count("paid_minor") == closed.members.count() + 1


@postgresql
def test_after_a_restore_everything_is_audited(closed: Trip) -> None:
    assert changed_trips() is not None
    # The run comes from another server, whose transactions had other numbers: it was written before
    # the transaction that it names.
    later = changed.snapshot_position() + 2_000
    AuditRun.objects.update(snapshot=later)
    with connection.cursor() as cursor:
        cursor.execute(USE_UP_TRANSACTIONS)
    wait_for_others()
    assert changed.snapshot_position() > later
    assert changed_trips() is None
    for beyond in (10**7, 2**31, -(2**31)):
        AuditRun.objects.update(snapshot=later + beyond)
        assert changed_trips() is None
    assert audit("--changed") == ("2 trips, no difference.", "")


@postgresql
def test_trips_are_audited_in_batches(closed: Trip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splits.management.commands.audit_ledger._BATCH_TRIPS", 1)
    Member.objects.update(paid_minor=F("paid_minor") + 1)
    members = Member.objects.count()
    assert audit("--changed")[1].count("paid_minor is") == members


def test_without_an_audit_before_everything_is_audited(trip: Trip) -> None:
    assert audit("--changed") == ("1 trips, no difference.", "")


def test_one_trip_or_the_changed_ones() -> None:
    with pytest.raises(CommandError, match="not allowed with"):
        call_command("audit_ledger", "--changed", "--trip", "1")


@pytest.mark.skipif(is_one_server, reason="for SQLite and Citus")
def test_sqlite_and_citus_are_audited_as_a_whole(trip: Trip) -> None:
    for _time in range(2):
        assert audit("--changed") == ("1 trips, no difference.", "")
    assert AuditRun.objects.latest("pk").snapshot is None
    assert changed.snapshot_position() is None


@postgresql
def test_cursors_are_planned_for_all_rows(trip: Trip) -> None:
    """A plan for the first of them searches an index for each row of all trips."""
    with CaptureQueriesContext(connection) as queries:
        assert not list(differences([trip.pk]))
    sent = [query["sql"] for query in queries]
    cursors = [at for at, sql in enumerate(sent) if sql.startswith("DECLARE")]
    assert cursors
    assert sent.index("SET LOCAL cursor_tuple_fraction = 1") < cursors[0]
