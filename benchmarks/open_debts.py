"""Fills a database with trips full of open debts: `python -m benchmarks.open_debts DEBTS [...]`.

D(n) is a trip with at least n open debts in which every balance is zero: its members are divided
into groups that take turns paying for all, equally often. So the next settlement that brings the
balances back to zero closes the whole trip. The statements work on both databases; the audit
verifies that the rows equal those that the ledger's commands would have written.
"""

import sys
from typing import NamedTuple

from django.contrib.auth.hashers import make_password
from django.db import connection, transaction

from benchmarks.data import FIRST_DAY, PASSWORD
from trips.models import Member, Trip
from trips.roles import TripRole
from users.models import User

#: What each debtor owes each payer of an expense, in minor units.
DEBT_MINOR = 100
_FEW_DEBTS = 1_000

#: A row for each expense. Citus refuses recursive statements on tables that it distributes.
_NUMBERS = {
    "postgresql": "generate_series(0, %(expenses)s - 1) AS numbers(n)",
    "sqlite": (
        "(WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted "
        "WHERE n < %(expenses)s - 1) SELECT n FROM counted) AS numbers"
    ),
}
_STATEMENTS = (
    "INSERT INTO splits_expense (trip_id, number, description, amount_minor, entered_minor, "
    "currency, rate_source, expense_date, category, split_type, divided, notes, created_by_id, "
    "created_at, updated_at) "
    "SELECT trip.id, n, 'Dinner', %(amount)s, %(amount)s, 'EUR', '', trip.start_date, 'FOOD', "
    "'EQUAL', TRUE, '', %(owner)s, trip.created_at, trip.created_at "
    "FROM {numbers} CROSS JOIN trips_trip trip WHERE trip.id = %(trip)s",
    "INSERT INTO splits_payer (trip_id, expense_id, user_id, amount_minor, entered_minor) "
    "SELECT expense.trip_id, expense.id, member.user_id, %(paid_by_user)s, %(paid_by_user)s "
    "FROM splits_expense expense JOIN trips_member member ON member.trip_id = expense.trip_id "
    "WHERE expense.trip_id = %(trip)s "
    "AND (member.user_id - %(owner)s) / %(payers)s = expense.number %% %(groups)s "
    "ORDER BY expense.id, member.user_id",
    "INSERT INTO splits_split (trip_id, expense_id, participant_id, amount_minor, created_at) "
    "SELECT expense.trip_id, expense.id, member.user_id, %(share)s, expense.created_at "
    "FROM splits_expense expense JOIN trips_member member ON member.trip_id = expense.trip_id "
    "WHERE expense.trip_id = %(trip)s ORDER BY expense.id, member.user_id",
    "INSERT INTO splits_debt (trip_id, split_id, debtor_id, creditor_id, amount_minor, open_minor) "
    "SELECT expense.trip_id, split.id, split.participant_id, payer.user_id, %(debt)s, %(debt)s "
    "FROM splits_expense expense JOIN splits_split split "
    "ON split.trip_id = expense.trip_id AND split.expense_id = expense.id JOIN splits_payer payer "
    "ON payer.trip_id = expense.trip_id AND payer.expense_id = expense.id "
    "WHERE expense.trip_id = %(trip)s "
    "AND (split.participant_id - %(owner)s) / %(payers)s <> expense.number %% %(groups)s "
    "ORDER BY split.id, payer.id",
)


class Size(NamedTuple):
    """The dimensions of a D(n): `payers` of the `members` pay for each expense."""

    members: int
    payers: int
    expenses: int

    @classmethod
    def of(cls, debts: int) -> "Size":
        """As few expenses as that many debts need, with each group paying equally often."""
        members, payers = (10, 5) if debts < _FEW_DEBTS else (200, 20)
        groups = members // payers
        a_round = groups * payers * (members - payers)
        return cls(members, payers, -(-debts // a_round) * groups)

    @property
    def groups(self) -> int:
        return self.members // self.payers

    @property
    def debts(self) -> int:
        return self.expenses * self.payers * (self.members - self.payers)

    @property
    def share_minor(self) -> int:
        return self.payers * DEBT_MINOR

    @property
    def owed_minor(self) -> int:
        """The amount that each member owes to others, and is owed."""
        return self.expenses * (self.groups - 1) // self.groups * self.share_minor


def fill(debts: int) -> Trip:
    """Create D(`debts`) with members `d<debts>-<i>@example.com`."""
    size = Size.of(debts)
    with transaction.atomic():
        trip = Trip.objects.create(
            title=f"D({debts})",
            destination="Everywhere",
            start_date=FIRST_DAY,
            end_date=FIRST_DAY,
            currency="EUR",
            expenses_recorded=size.expenses,
        )
        people = _people(debts, size.members)
        paid_minor = size.expenses * size.share_minor
        Member.objects.bulk_create(
            Member(
                trip=trip,
                user=person,
                role=TripRole.EDITOR if at else TripRole.OWNER,
                paid_minor=paid_minor,
                share_minor=paid_minor,
                owed_minor=size.owed_minor,
            )
            for at, person in enumerate(people)
        )
        values = {
            "trip": trip.pk,
            "owner": people[0].pk,
            "expenses": size.expenses,
            "payers": size.payers,
            "groups": size.groups,
            "share": size.share_minor,
            "amount": size.share_minor * size.members,
            "paid_by_user": size.share_minor * size.groups,
            "debt": DEBT_MINOR,
        }
        with connection.cursor() as cursor:
            for statement in _STATEMENTS:
                cursor.execute(statement.format(numbers=_NUMBERS[connection.vendor]), values)
    return trip


def _people(debts: int, members: int) -> list[User]:
    """Create users with consecutive ids, which determine the groups."""
    password = make_password(PASSWORD)
    names = [f"d{debts}-{at}" for at in range(members)]
    people = User.objects.bulk_create(
        User(
            name=name,
            email=f"{name}@example.com",
            email_key=f"{name}@example.com",
            password=password,
        )
        for name in names
    )
    first = people[0].pk
    if people[-1].pk - first != members - 1:
        raise SystemExit("Another user registered at the same time.")
    return people


if __name__ == "__main__":
    for number in sys.argv[1:]:
        made = fill(int(number))
        sys.stdout.write(f"{made.title}: trip {made.pk}\n")
