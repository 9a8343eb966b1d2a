"""What a newer release wrote beside this one is shown in general words, and left as it is."""

from contextlib import contextmanager

import pytest
from django.core import mail as outgoing
from django.core.management import call_command
from django.db import connection

from tests.document import problem_of
from tests.factories import spend
from tests.trips.bodies import dinner
from trips.models import Member
from users.models import Mail


@contextmanager
def newer_constraint(table, name):
    """A newer release has put its words into this constraint."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
            yield
            cursor.execute("PRAGMA ignore_check_constraints = OFF")
            return
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        yield


def test_an_unknown_role_may_do_what_the_weakest_one_may(api, olga, ed, vera, trip):
    with newer_constraint("trips_member", "member_role_known"):
        Member.objects.filter(trip=trip, user=ed).update(role="GUIDE")
    url = f"/api/trips/{trip.pk}"
    assert api(ed).get(url).json()["currentUserRole"] == "GUIDE"
    problem_of(api(ed).post(f"{url}/expenses", dinner(ed)), 403)
    assert api(olga).put(f"{url}/members/{ed.pk}/role", {"role": "EDITOR"}).status_code == 200
    assert api(ed).post(f"{url}/expenses", dinner(ed)).status_code == 201


def test_an_expense_of_an_unknown_type_keeps_its_splits(api, olga, ed, trip):
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    type(expense).objects.update(split_type="BY_NIGHTS")
    url = f"/api/trips/{trip.pk}/expenses/{expense.pk}"
    assert api(olga).patch(url, {"notes": "x"}).json()["splitType"] == "BY_NIGHTS"
    problem_of(api(olga).patch(url, {"amount": 12}), 409, "divided_by_hand")
    problem_of(api(olga).patch(url, {"participantUserIds": [ed.pk]}), 409, "divided_by_hand")
    call_command("audit_ledger")
    whole = {"amount": 12, "splitType": "EQUAL", "participantUserIds": [olga.pk, ed.pk]}
    changed = api(olga).patch(url, whole).json()
    assert [split["amount"] for split in changed["splits"]] == [6, 6]


@pytest.mark.django_db
def test_a_mail_of_a_newer_release_waits_for_it(olga):
    Mail.objects.create(user=olga, letter="POLL", address=olga.email)
    call_command("send_mail_queue")
    assert outgoing.outbox == []
    assert Mail.objects.waiting().get().attempts == 0
