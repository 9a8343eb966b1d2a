"""What must never be false of accounts, trips and keys is refused by the database itself."""

from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import F

from tests.walked import all_of, answers
from tripcompanion.api.serializers import MAX_INTEGER
from tripcompanion.database.models import IdempotencyRecord
from trips.models import JournalEntry, Member, Trip
from trips.models.client_ids import ClientId
from trips.models.events import Event
from trips.models.journal import Entry, write
from users.models import User

#: By constraint: whose row, and what it would have to hold.
VIOLATIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("user_email_unique", "ed", {"email_key": "olga@example.com"}),
    ("user_role_known", "ed", {"role": "ROOT"}),
    ("user_deleted_is_empty", "ed", {"deleted_at": "2026-05-14T12:00Z"}),
    ("user_guest_has_no_account", "ed", {"is_guest": True}),
    ("trip_ends_after_start", "trip", {"end_date": "2020-01-01"}),
    ("trip_budget_positive", "trip", {"budget_minor": 0}),
    ("trip_join_role_known", "trip", {"join_role": "OWNER"}),
    ("member_owed_in_range", "member", {"owed_minor": -1}),
    ("user_notice_mode_known", "ed", {"notice_mode": "never"}),
    ("member_role_known", "member", {"role": "ADMIN"}),
    ("member_once_in_trip", "member", {"user": "olga"}),
    ("member_sums_in_64_bits", "member", {"paid_minor": F("share_minor") + MAX_INTEGER}),
    ("member_negative_sums_in_64_bits", "member", {"paid_minor": -MAX_INTEGER - 1}),
    ("journal_number_in_trip", "entry", {"number": 1}),
    ("journal_number_positive", "entry", {"number": 0}),
    ("idempotency_key_once_per_user", "answer", {"key": "first"}),
    ("client_id_in_trip", "client_id", {"client_id": UUID(int=1)}),
    ("client_id_of_trip", "client_id", {"client_id": UUID(int=1), "kind": "trip"}),
    *all_of("VIOLATIONS"),
]
UNIQUE = {
    *("user_email_unique", "member_once_in_trip", "idempotency_key_once_per_user"),
    *("journal_number_in_trip", "client_id_in_trip", "client_id_of_trip", *all_of("UNIQUE")),
}


@pytest.mark.parametrize(
    ("constraint", "name", "changes"), VIOLATIONS, ids=[row[0] for row in VIOLATIONS]
)
def test_a_row_that_must_not_be_is_refused(environment, constraint, name, changes):
    IdempotencyRecord.objects.create(user=environment.olga, key="first")
    entry = Entry(Event.CODE_RENEWED, environment.trip.pk)
    write(environment.trip.pk, environment.olga, entry, entry)
    named = [
        ClientId(
            trip=environment.trip, kind="guest", client_id=UUID(int=n), object_id=n, creator_id=1
        )
        for n in (1, 2)
    ]
    ClientId.objects.bulk_create(named)
    rows: dict[str, Any] = {
        "client_id": ClientId.objects.filter(object_id=2),
        "ed": User.objects.filter(pk=environment.ed.pk),
        "trip": Trip.objects.filter(pk=environment.trip.pk),
        "member": Member.objects.filter(trip=environment.trip, user=environment.ed),
        "entry": JournalEntry.objects.filter(trip=environment.trip.pk, number=2),
        "answer": IdempotencyRecord.objects.filter(
            pk=IdempotencyRecord.objects.create(user=environment.olga, key="second").pk
        ),
    }
    for constrained in answers("constrained"):
        rows |= constrained(environment.trip, environment.olga)
    written = {field: environment.cast.get(str(value), value) for field, value in changes.items()}
    # PostgreSQL has no such number, and SQLite says not which constraint is the unique one.
    beyond = constraint == "member_sums_in_64_bits" and connection.vendor == "postgresql"
    text = "UNIQUE" if constraint in UNIQUE and connection.vendor == "sqlite" else constraint
    with pytest.raises(DataError if beyond else IntegrityError) as refused, transaction.atomic():
        rows[name].update(**written)
    assert beyond or text in str(refused.value)


def test_every_constraint_outside_the_ledger_is_violated_here():
    named = {
        constraint.name
        for model in apps.get_models()
        for constraint in model._meta.constraints
        if not model.__module__.startswith(("splits.", "django"))
    }
    named -= {*all_of("VIOLATED_ELSEWHERE")}
    assert named == {constraint for constraint, _name, _changes in VIOLATIONS}
