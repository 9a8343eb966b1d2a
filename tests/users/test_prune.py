"""`manage.py prune` deletes what is over, and leaves what is not."""

import re
from datetime import timedelta
from io import StringIO

from django.contrib.sessions.models import Session as BrowserSession
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from splits.models import DeletedEntry
from tests import citus
from tests.factories import TripFactory, spend
from tests.trips.bodies import lisbon
from tests.users.logins import bearer, log_in
from tests.walked import all_of
from tripcompanion.database import deletes
from tripcompanion.database.models import IdempotencyRecord, ThrottleCounter
from trips.models import JournalEntry, Trip
from trips.models.events import Event
from trips.models.journal import Entry, write
from users.mail_templates import MailTemplate
from users.models import EmailToken, Mail, ScopedToken, Session

MONTH = timedelta(days=30, minutes=1)
WEEK = timedelta(days=7, minutes=1)


def pruned(dry_run=False):
    said = StringIO()
    call_command("prune", stdout=said, dry_run=dry_run)
    lines = said.getvalue().splitlines()
    if dry_run:
        assert lines.pop() == "Nothing was deleted."
    rows = [line.split(" ", 1) for line in lines]
    return {name: int(count) for count, name in rows}


NOTHING = {
    "deleted trips": 0,
    "idempotency keys": 0,
    "sessions": 0,
    "scoped tokens": 0,
    "throttle counters": 0,
    "links": 0,
    "mails": 0,
    "journal entries of deleted trips": 0,
    "deleted entries": 0,
    "browser sessions": 0,
    **dict.fromkeys(all_of("PRUNED"), 0),
}
#: One of each of the core's.
ONE_OF_EACH = dict.fromkeys(NOTHING, 1) | dict.fromkeys(all_of("PRUNED"), 0)


def fill(api, user):
    """One of everything that can be over, all of it in use."""
    Client().force_login(user)
    answer = api(user).post("/api/trips", lisbon(), HTTP_IDEMPOTENCY_KEY="lisbon")
    assert answer.status_code == 201
    EmailToken.make(user, MailTemplate.RESET)
    Mail.objects.ask_to_verify(user)
    ScopedToken.issue(user, name="Import", scopes=["trips:read"])
    spend(Trip.objects.get(), 100, paid_by=user, among=[user]).remove(by=user)
    TripFactory(deleted_at=timezone.now())
    ThrottleCounter.add("login:1:olga", (timezone.now() + timedelta(minutes=1)).timestamp())


def test_what_is_in_use_stays(api, olga):
    fill(api, olga)
    assert pruned() == NOTHING
    assert Mail.objects.count() == EmailToken.objects.count() == Session.objects.count() == 1
    assert ScopedToken.objects.count() == ThrottleCounter.objects.count() == 1
    assert IdempotencyRecord.objects.count() == BrowserSession.objects.count() == 1


def test_what_is_over_goes(api, olga):
    fill(api, olga)
    now = timezone.now()
    IdempotencyRecord.objects.update(created_at=now - timedelta(hours=24))
    Session.objects.update(expires_at=now - MONTH)
    ScopedToken.objects.update(expires_at=now - MONTH)
    ThrottleCounter.objects.update(ends_at=now)
    EmailToken.objects.update(expires_at=now)
    Mail.objects.update(given_up_at=now - MONTH)
    write(0, None, Entry(Event.TRIP_DELETED, 0))
    JournalEntry.objects.update(at=now - MONTH)
    DeletedEntry.objects.update(deleted_at=now - MONTH)
    Trip.objects.filter(deleted_at__isnull=False).update(deleted_at=now - WEEK)
    BrowserSession.objects.update(expire_date=now)
    # This session has ended in both ways, and is still one.
    Session.objects.update(ended_at=now - MONTH)
    for _time in range(2):
        assert pruned(dry_run=True) == ONE_OF_EACH
    assert pruned() == ONE_OF_EACH
    assert pruned() == NOTHING
    assert not Trip.objects.filter(deleted_at__isnull=False).exists()
    for model in (
        IdempotencyRecord,
        ThrottleCounter,
        Session,
        ScopedToken,
        EmailToken,
        Mail,
        DeletedEntry,
        BrowserSession,
    ):
        assert not model._default_manager.exists()


def test_what_came_to_an_end_can_be_looked_at_for_a_month(api, olga):
    fill(api, olga)
    month = timezone.now() - MONTH + timedelta(minutes=2)
    Session.objects.update(ended_at=month)
    Mail.objects.update(given_up_at=month)
    DeletedEntry.objects.update(deleted_at=month)
    week = timezone.now() - WEEK + timedelta(minutes=2)
    Trip.objects.filter(deleted_at__isnull=False).update(deleted_at=week)
    assert pruned() == NOTHING


def test_an_ended_log_in_goes_after_a_month_and_a_live_one_works_on(olga):
    ended, alive = Session.start(olga), log_in(olga)
    ended.end()
    Session.objects.filter(pk=ended.pk).update(ended_at=timezone.now() - MONTH)
    assert pruned() == NOTHING | {"sessions": 1}
    assert bearer(alive["token"]).get("/api/users/me").status_code == 200


def test_mails_that_are_waiting_stay_however_old_they_are(olga):
    Mail.objects.ask_to_verify(olga)
    Mail.objects.update(created_at=timezone.now() - MONTH)
    assert pruned() == NOTHING


def test_it_goes_batch_by_batch(olga, monkeypatch):
    monkeypatch.setattr(deletes, "READ_ROWS", 2)
    for _link in range(5):
        EmailToken.make(olga, MailTemplate.RESET)
    EmailToken.objects.update(expires_at=timezone.now())
    kept = EmailToken.make(olga, MailTemplate.RESET)
    assert pruned() == NOTHING | {"links": 5}
    assert kept
    assert EmailToken.objects.count() == 1


#: The columns by which `prune` finds what is over.
ENDS = {
    ("kit_idempotencyrecord", "created_at"),
    ("users_session", "ended_at"),
    ("users_session", "expires_at"),
    ("users_scopedtoken", "expires_at"),
    ("kit_throttlecounter", "ends_at"),
    ("users_emailtoken", "expires_at"),
    ("users_mail", "given_up_at"),
    ("trips_trip", "deleted_at"),
    ("trips_journalentry", "trip_id"),
    ("splits_deletedentry", "deleted_at"),
    ("django_session", "expire_date"),
    *all_of("ENDS"),
}


@citus.hides_plans
def test_a_batch_is_found_by_an_index(db):
    """A table of millions would else be read as a whole for each batch."""
    with CaptureQueriesContext(connection) as captured:
        assert pruned() == NOTHING
    found = set()
    for query in captured:
        if any(table in query["sql"] for table in all_of("READ_WHOLE")):
            continue
        table, column = _looked_up(query["sql"])
        assert re.search(rf"{column}\"? ?[<=]", _plan(query["sql"])), query["sql"]
        found.add((table, column))
    assert found == ENDS


def _looked_up(sql):
    """The table of a batch, and the column that it is ordered by."""
    found = re.search(r'FROM "(\w+)".* ORDER BY "\w+"\."(\w+)" ASC(?:, .*)? LIMIT', sql)
    assert found, sql
    return found[1], found[2]


def _plan(sql):
    """What the database looks up in an index, in its own words."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            return "\n".join(row[-1] for row in cursor.fetchall() if "USING" in row[-1])
        # The tables are small, and PostgreSQL would read them as a whole.
        for way in ("seqscan", "hashjoin", "mergejoin"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute(f"EXPLAIN {sql}")
        return "\n".join(row for (row,) in cursor.fetchall() if "Index Cond" in row)
