"""Many rows by a few statements that both databases know, as of a trip with 10,000 expenses."""

from datetime import datetime
from typing import Any

from django.db import connection

from tests.factories import TripFactory, UserFactory, join
from trips.models import Member, Trip
from trips.roles import TripRole
from users.models import User

EXPENSES = 10_000
#: Of each member's debts; all others are covered.
OPEN_DEBTS = EXPENSES // 100
#: Other people, each in a trip of their own.
OTHERS = 2_000

_TABLES = "trips_trip, splits_expense, splits_split, splits_debt, splits_settlement, users_user"
_STATEMENTS = (
    "INSERT INTO splits_expense (trip_id, number, description, amount_minor, entered_minor, "
    "currency, rate_source, expense_date, category, split_type, divided, notes, created_by_id, "
    "created_at, updated_at) "
    "WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < %s) "
    "SELECT trip.id, n, 'Dinner', 1000, 1000, 'EUR', '', "
    "trip.start_date, 'FOOD', 'EQUAL', TRUE, '', member.user_id, trip.created_at, trip.created_at "
    "FROM numbers CROSS JOIN trips_trip trip JOIN trips_member member ON member.trip_id = trip.id "
    "WHERE trip.id = %s AND member.role = 'OWNER'",
    "INSERT INTO splits_payer (trip_id, expense_id, user_id, amount_minor, entered_minor) "
    "SELECT trip_id, id, created_by_id, 1000, 1000 FROM splits_expense",
    "INSERT INTO splits_split (trip_id, expense_id, participant_id, amount_minor, created_at) "
    "SELECT expense.trip_id, expense.id, member.user_id, 100, expense.created_at "
    "FROM splits_expense expense "
    "JOIN trips_member member ON member.trip_id = expense.trip_id",
    "INSERT INTO splits_debt "
    "(trip_id, split_id, debtor_id, creditor_id, amount_minor, open_minor, covered_at) "
    "SELECT expense.trip_id, split.id, split.participant_id, expense.created_by_id, 100, "
    "CASE WHEN expense.number % 100 = 0 THEN 100 ELSE 0 END, "
    "CASE WHEN expense.number % 100 = 0 THEN NULL ELSE expense.created_at END "
    "FROM splits_split split JOIN splits_expense expense ON expense.id = split.expense_id "
    "WHERE split.participant_id <> expense.created_by_id",
    "INSERT INTO splits_settlement (trip_id, sender_id, receiver_id, amount_minor, credit_minor, "
    "settled_on, note, split_id, created_by_id, created_at) SELECT debt.trip_id, debt.debtor_id, "
    "debt.creditor_id, 100, 0, trip.start_date, '', debt.split_id, debt.debtor_id, debt.covered_at "
    "FROM splits_debt debt JOIN trips_trip trip ON trip.id = debt.trip_id "
    "WHERE debt.open_minor = 0",
    "INSERT INTO splits_allocation (trip_id, settlement_id, debt_id, amount_minor) "
    "SELECT debt.trip_id, settlement.id, debt.id, 100 FROM splits_settlement settlement "
    "JOIN splits_debt debt ON debt.split_id = settlement.split_id",
    "INSERT INTO trips_journalentry "
    "(trip_id, number, at, by_id, via, event, object_id, expense_id, stored_changes) "
    "SELECT trip_id, number + 1, created_at, created_by_id, 'session', 'expense.created', id, id, "
    "'{}' FROM splits_expense",
    "UPDATE trips_trip SET expenses_recorded = 1 + %s WHERE id = %s",
)

#: Each of the other trips was closed once, with some credit left.
_CLOSED = (
    "INSERT INTO splits_settlement (trip_id, sender_id, receiver_id, amount_minor, credit_minor, "
    "settled_on, note, created_by_id, created_at) "
    "SELECT trip_id, user_id, %s, 100, 0, trip.start_date, '', user_id, trip.created_at "
    "FROM trips_member member JOIN trips_trip trip ON trip.id = trip_id WHERE trip_id <> %s",
    "INSERT INTO splits_allocation (trip_id, settlement_id, closed_by_id, amount_minor) "
    "SELECT trip_id, id, id, 100 FROM splits_settlement WHERE split_id IS NULL",
)


def long_trip() -> tuple[Trip, list[User]]:
    """The trip and its members, of whom the first, an OWNER, paid everything.

    Call with an empty database, and outside a transaction.
    """
    others = User.objects.bulk_create(UserFactory.build_batch(OTHERS))
    trips = Trip.objects.bulk_create(TripFactory.build_batch(OTHERS))
    pairs = zip(trips, others, strict=True)
    Member.objects.bulk_create(Member(trip=trip, user=user) for trip, user in pairs)
    trip, people = TripFactory(), UserFactory.create_batch(10)
    for at, person in enumerate(people):
        join(trip, person, TripRole.EDITOR if at else TripRole.OWNER)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Plans depend on how many pages the rows of earlier tests have left.
            cursor.execute(f"VACUUM FULL {_TABLES}")
        for statement in _STATEMENTS:
            if connection.vendor == "postgresql":
                # Their joins and foreign keys have plans for the empty tables of earlier tests.
                cursor.execute(f"ANALYZE {_TABLES}")
            values = [EXPENSES - 1, trip.pk] if "%s" in statement else None
            cursor.execute(statement, values)
        for statement in _CLOSED:
            values = [people[0].pk, trip.pk] if "%s" in statement else None
            cursor.execute(statement, values)
        received_minor = 900 * (EXPENSES - OPEN_DEBTS)
        trip.members.filter(user=people[0]).update(
            paid_minor=1000 * EXPENSES, share_minor=100 * EXPENSES, received_minor=received_minor
        )
        Member.objects.filter(trip=trip).exclude(user=people[0]).update(
            share_minor=100 * EXPENSES, sent_minor=received_minor // 9, owed_minor=100 * OPEN_DEBTS
        )
    analyse()
    return trip, people


def insert_many(statement: str, count: int, *values: Any) -> None:
    """Insert rows by a `statement` that reads `n` from `numbers`, which are those up to `count`."""
    numbers = "SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %s"
    convert = connection.ops.adapt_datetimefield_value
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE numbers(n) AS ({numbers}) {statement}",
            [count, *(convert(v) if isinstance(v, datetime) else v for v in values)],
        )


def analyse() -> None:
    """Let the database learn what it holds. Call outside a transaction."""
    with connection.cursor() as cursor:
        # Else PostgreSQL does not know that an index alone can answer.
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
