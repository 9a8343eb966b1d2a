"""What the code must never write, the database refuses by itself: each constraint, violated."""

from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.db.models import CheckConstraint, F, ProtectedError, UniqueConstraint
from django.utils import timezone

from splits.models import Allocation, Debt, DeletedEntry, Expense, Rate, Settlement, Split
from splits.models.payer import Payer
from splits.models.rate import DailyRate
from tests import citus
from tests.factories import settle, spend
from trips.models import Member


class Rows(NamedTuple):
    """One row of every table of the ledger: Olga paid 60 for Ed, who settled 40 of it."""

    expense: Expense
    payer: Payer
    split: Split
    debt: Debt
    settlement: Settlement
    allocation: Allocation
    deleted_entry: DeletedEntry


@pytest.fixture
def rows(trip, olga, ed):
    expense = spend(trip, 6000, paid_by=olga, among=[ed])
    settle(trip, ed, olga, 4000)
    return Rows(
        expense,
        Payer.objects.get(),
        Split.objects.get(),
        Debt.objects.get(),
        Settlement.objects.get(),
        Allocation.objects.get(),
        DeletedEntry.objects.create(trip=trip, kind="expense", object_id=7, currency="EUR"),
    )


def columns(row, **changes):
    """A copy of a row, not written, with some columns changed."""
    copy = type(row)(**{f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields})
    copy.pk = None
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy


#: The table, and what its one row would have to hold to violate the constraint of that name.
VIOLATIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("expense_amounts_of_one_sign", "expense", {"amount_minor": 0}),
    ("expense_amounts_of_one_sign", "expense", {"amount_minor": -1}),
    ("expense_amounts_of_one_sign", "expense", {"entered_minor": 0}),
    ("expense_rate_positive", "expense", {"exchange_rate": Decimal(0)}),
    ("expense_rate_positive", "expense", {"exchange_rate": Decimal(-1)}),
    ("payer_amounts_of_one_sign", "payer", {"amount_minor": -1}),
    ("payer_amounts_of_one_sign", "payer", {"entered_minor": 0}),
    ("debt_positive", "debt", {"amount_minor": 0, "open_minor": 0, "covered_at": timezone.now()}),
    ("debt_covered_within_amount", "debt", {"open_minor": 6001}),
    ("debt_covered_at_when_covered", "debt", {"open_minor": 0}),
    ("debt_covered_at_when_covered", "debt", {"covered_at": timezone.now()}),
    ("debt_between_two_people", "debt", {"debtor": F("creditor")}),
    ("settlement_positive", "settlement", {"amount_minor": 0, "credit_minor": 0}),
    ("settlement_credit_within_amount", "settlement", {"credit_minor": -1}),
    ("settlement_credit_within_amount", "settlement", {"credit_minor": 4001}),
    ("settlement_between_two_people", "settlement", {"sender": F("receiver")}),
    ("settlement_entered_with_rate", "settlement", {"foreign_minor": 5000}),
    ("settlement_entered_with_rate", "settlement", {"foreign_currency": "JPY"}),
    ("settlement_entered_with_rate", "settlement", {"exchange_rate": Decimal(2)}),
    (
        "settlement_entered_with_rate",
        "settlement",
        {"foreign_minor": -1, "foreign_currency": "JPY", "exchange_rate": Decimal(2)},
    ),
    ("allocation_positive", "allocation", {"amount_minor": 0}),
    ("allocation_positive", "allocation", {"amount_minor": -1}),
    ("allocation_covers_or_closes", "allocation", {"debt": None}),
    ("allocation_covers_or_closes", "allocation", {"settlement": None}),
    ("allocation_covers_or_closes", "allocation", {"closed_by": F("settlement")}),
]

#: The table, and a second row of it that may not be.
TWICE: list[tuple[str, str]] = [
    ("expense_number_in_trip", "expense"),
    ("payer_once_in_expense", "payer"),
    ("split_once_for_a_participant", "split"),
    ("debt_once_to_a_creditor", "debt"),
    ("deleted_once_in_trip", "deleted_entry"),
]


def refused(constraint, write):
    """`write` is refused by the constraint of that name.

    SQLite names the columns of a unique constraint instead of the constraint.
    """
    unique = constraint in {name for name, _table in TWICE}
    text = "UNIQUE" if unique and connection.vendor == "sqlite" else constraint
    with pytest.raises(IntegrityError, match=text), transaction.atomic():
        write()


@pytest.mark.parametrize(("constraint", "table", "changes"), VIOLATIONS)
def test_a_row_that_must_not_be_is_refused(rows, constraint, table, changes):
    row = getattr(rows, table)
    refused(constraint, lambda: type(row).objects.filter(pk=row.pk).update(**changes))


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        ("debt", {"open_minor": -1}),
        ("settlement", {"amount_minor": -5}),
        ("settlement", {"amount_minor": -5, "credit_minor": -5}),
    ],
)
def test_a_row_that_several_constraints_forbid_is_refused(rows, table, changes):
    row = getattr(rows, table)
    with pytest.raises(IntegrityError), transaction.atomic():
        type(row).objects.filter(pk=row.pk).update(**changes)


@pytest.mark.parametrize(("constraint", "table"), TWICE)
def test_a_second_row_for_the_same_is_refused(rows, constraint, table):
    refused(constraint, columns(getattr(rows, table)).save)


def test_a_rate_is_positive(db):
    refused("rate_positive", Rate(currency="JPY", per_euro=0, day=date(2026, 5, 14)).save)


def test_a_currency_has_one_positive_rate_a_day(db):
    rate = DailyRate(currency="JPY", per_euro=0, day=date(2026, 5, 14))
    refused("dailyrate_positive", rate.save)
    rate.per_euro = 160
    rate.save()
    again = DailyRate(currency="JPY", per_euro=161, day=rate.day)
    refused("currency" if connection.vendor == "sqlite" else "dailyrate_of_day", again.save)


def test_every_constraint_of_the_ledger_is_violated_here():
    named = {
        constraint.name
        for model in apps.get_app_config("splits").get_models()
        for constraint in model._meta.constraints
        if isinstance(constraint, CheckConstraint | UniqueConstraint)
    }
    violated = {name for name, *_rest in VIOLATIONS} | {name for name, _table in TWICE}
    rates = {"rate_positive", "dailyrate_positive", "dailyrate_of_day"}
    assert named == violated | rates


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("expense", "created_by"),
        ("payer", "user"),
        ("split", "participant"),
        ("debt", "debtor"),
        ("debt", "creditor"),
        ("settlement", "sender"),
        ("settlement", "receiver"),
        ("settlement", "created_by"),
    ],
)
def test_a_user_with_entries_cannot_be_deleted_from_under_them(rows, table, column):
    user = getattr(getattr(rows, table), column)
    Member.objects.all().delete()
    with pytest.raises(ProtectedError), transaction.atomic():
        user.delete()


@pytest.mark.parametrize(
    ("table", "column"),
    [
        pytest.param("expense", "trip_id", marks=citus.row_changes_trip),
        ("payer", "expense_id"),
        ("split", "expense_id"),
        ("debt", "split_id"),
        ("settlement", "sender_id"),
        ("allocation", "debt_id"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_a_row_belongs_to_something_that_exists(rows, table, column):
    row = getattr(rows, table)
    with pytest.raises(IntegrityError), transaction.atomic():
        type(row).objects.filter(pk=row.pk).update(**{column: 999_999_999})
