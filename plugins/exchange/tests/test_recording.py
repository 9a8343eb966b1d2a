"""Entries that are recorded together are the same as if they had been recorded one by one."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.exchange.erasing import erase
from plugins.recording import NewExpense, Recording
from splits.models import Allocation, Debt, Division, Expense, Settlement, Split
from splits.reports.audit import differences
from tests.cast import trip_of
from tests.compiled_only import compiled_only
from tripcompanion.currency.amounts import Amount, to_major
from trips.models import JournalEntry, Member, Trip, locked_trip
from trips.roles import Can

DAY = date(2026, 5, 1)


def new_expense(amount, payer, people):
    fields = {
        "amount_minor": amount,
        "entered_minor": amount,
        "currency": "EUR",
        "description": "Boat",
        "expense_date": DAY,
    }
    return NewExpense(fields, {payer: amount}, Division("EQUAL", people, None))


def new_settlement(amount, sender, receiver):
    return Settlement(sender_id=sender, receiver_id=receiver, amount_minor=amount, settled_on=DAY)


def one_by_one(trip, by, entries):
    for entry in entries:
        if isinstance(entry, NewExpense):
            fields = {k: v for k, v in entry.fields.items() if k != "amount_minor"}
            Expense.record(
                trip, by, paid_by_user=entry.paid_by_user, division=entry.division, **fields
            )
        else:
            settlement = Settlement(
                trip=trip,
                created_by=by,
                sender_id=entry.sender_id,
                receiver_id=entry.receiver_id,
                settled_on=entry.settled_on,
                note=entry.note,
            )
            settlement.record(Amount(to_major(entry.amount_minor, "EUR"), "EUR"))


def together(trip, by, entries, size):
    ids = []
    with locked_trip(trip.pk, by, Can.RECORD) as locked:
        recording = Recording(locked, by)
        for first in range(0, len(entries), size):
            ids += recording.record(entries[first : first + size])
    return ids


def state(trip, people):
    """The ledger of a trip, without ids; people by their order."""
    at = {user.pk: place for place, user in enumerate(people)}
    debts = Debt.objects.filter(trip=trip).order_by("split_id", "id")
    settlements = Settlement.objects.filter(trip=trip).order_by("id")
    places = {debt.pk: place for place, debt in enumerate(debts)}
    numbers = {row.pk: str(place) for place, row in enumerate(settlements)}
    offsets = Settlement.with_offsets.filter(trip=trip, closing__isnull=False)
    for row in offsets:
        numbers[row.pk] = (
            f"{numbers[row.closing_id or 0]}:{at[row.sender_id]}>{at[row.receiver_id]}"
        )
    allocations = Allocation.objects.filter(trip=trip)
    return {
        "splits": [
            (at[s.participant_id], s.amount_minor)
            for s in Split.objects.filter(trip=trip).order_by("id")
        ],
        "debts": [
            (at[d.debtor_id], at[d.creditor_id], d.amount_minor, d.open_minor) for d in debts
        ],
        "settlements": [(s.amount_minor, s.credit_minor) for s in settlements],
        "offsets": sorted((numbers[s.pk], s.amount_minor, s.credit_minor) for s in offsets),
        "allocations": sorted(
            (
                places.get(a.debt_id, -1),
                numbers.get(a.settlement_id, ""),
                numbers.get(a.closed_by_id, ""),
                a.amount_minor,
            )
            for a in allocations
        ),
        "members": [
            (m.paid_minor, m.share_minor, m.sent_minor, m.received_minor, m.owed_minor)
            for m in Member.objects.filter(trip=trip).order_by("user_id")
        ],
        "journal": list(
            JournalEntry.objects.filter(trip=trip)
            .exclude(event__startswith="member")
            .order_by("number")
            .values_list("event", flat=True)
        ),
    }


ENTRY = st.tuples(
    st.sampled_from(["expense", "expense", "settlement"]),
    st.integers(1, 60),
    st.permutations([0, 1, 2]),
    st.integers(1, 3),
)


@pytest.mark.either
@pytest.mark.django_db
@given(st.lists(ENTRY, min_size=1, max_size=14), st.integers(1, 14))
@settings(max_examples=40)
def test_together_is_the_same_as_one_by_one(olga, ed, vera, drawn, size):
    people = [olga, ed, vera]
    entries: list[Any] = []
    for kind, amount, order, number in drawn:
        ids = [people[place].pk for place in order]
        if kind == "expense":
            entries.append(new_expense(amount, ids[0], tuple(sorted(ids[-number:]))))
        else:
            entries.append(new_settlement(amount, ids[0], ids[1]))
    first, second = trip_of(*people), trip_of(*people)
    for trip in (first, second):
        one_by_one(trip, olga, [new_expense(9, olga.pk, ids), new_settlement(3, ed.pk, olga.pk)])
        for split in Split.objects.filter(trip=trip, participant=ed):
            split.unpay(by=olga)
    one_by_one(first, olga, entries)
    together(second, olga, entries, size)
    assert state(second, people) == state(first, people)
    assert not list(differences())
    Trip.objects.filter(pk__in=[first.pk, second.pk]).delete()


def test_exact_parts_replace_a_division_that_differs(trip, olga, ed, vera):
    people = (olga.pk, ed.pk, vera.pk)
    own = {olga.pk: 334, ed.pk: 333, vera.pk: 333}
    other = {olga.pk: 333, ed.pk: 333, vera.pk: 334}
    for exact, split_type in ((own, "EQUAL"), (other, "MANUAL")):
        base = new_expense(1000, olga.pk, people)
        new = NewExpense(base.fields, base.paid_by_user, base.division, exact, "EUR")
        # The first expense has the number 0, so the odd cent is Olga's.
        Trip.objects.filter(pk=trip.pk).update(expenses_recorded=0)
        Expense.objects.filter(trip=trip).update(number=99)
        (pk,) = together(trip, olga, [new], 1)
        expense = Expense.objects.get(pk=pk)
        assert expense.split_type == split_type
        assert dict(expense.splits.values_list("participant", "amount_minor")) == exact


def test_a_foreign_expense_keeps_exact_parts_of_the_trips_currency(trip, olga, ed):
    base = new_expense(1001, olga.pk, (olga.pk, ed.pk))
    fields = {
        **base.fields,
        "entered_minor": 1070,
        "currency": "CHF",
        "exchange_rate": Decimal("0.9355"),
        "rate_source": "ENTERED",
        "rate_day": DAY,
    }
    exact = {olga.pk: 250, ed.pk: 751}
    new = NewExpense(fields, {olga.pk: 1070}, base.division, exact, "EUR")
    (pk,) = together(trip, olga, [new], 1)
    assert (
        dict(Split.objects.filter(expense=pk).values_list("participant", "amount_minor")) == exact
    )
    assert not list(differences())


@pytest.mark.parametrize(
    ("exact", "split_type"),
    [
        ((4_000, 2_000), "SHARES"),
        ((200_000_600, 120_000_401), "SHARES"),
        ((15 * 10**9 + 1, 10**10), "EQUAL"),
    ],
)
def test_what_is_recorded_by_exact_parts_can_be_sent_back(api, trip, olga, ed, exact, split_type):
    """Weights have a maximum; if none fit, it is as if the splits had been made by hand."""
    base, total = new_expense(sum(exact), olga.pk, (olga.pk, ed.pk)), sum(exact)
    entered = {"entered_minor": total * 2, "currency": "CHF", "exchange_rate": Decimal("0.5")}
    fields = {**base.fields, **entered, "rate_source": "ENTERED", "rate_day": DAY}
    parts = {olga.pk: exact[0], ed.pk: exact[1]}
    new = NewExpense(fields, {olga.pk: total * 2}, base.division, parts, "EUR")
    (pk,) = together(trip, olga, [new], 1)
    url, splits = f"/api/trips/{trip.pk}/expenses/{pk}", Split.objects.filter(expense=pk)
    shown = api(olga).get(url).json()
    assert (shown["splitType"], shown["splitAmounts"] is None) == (
        split_type,
        split_type == "EQUAL",
    )
    assert api(olga).put(url, shown).status_code == 200
    assert dict(splits.values_list("participant", "amount_minor")) == parts


@compiled_only  # otherwise SQLite takes a statement for so many rows
def test_hundreds_take_as_many_statements_as_ten(trip, olga, ed):
    def statements(number):
        entries: list[Any] = []
        for at in range(number):
            entries.append(new_expense(10 + at, olga.pk, (olga.pk, ed.pk)))
            entries.append(new_settlement(5, ed.pk, olga.pk))
        with CaptureQueriesContext(connection) as captured:
            together(trip, olga, entries, len(entries))
        return len(captured)

    assert statements(200) <= statements(5) + 2


def test_erasing_takes_everything_back(trip, olga, ed, vera):
    people = [olga, ed, vera]
    ids = (olga.pk, ed.pk, vera.pk)
    one_by_one(trip, olga, [new_expense(100, ed.pk, ids)])
    before = state(trip, people)
    entries = [new_expense(1001, olga.pk, ids), new_settlement(100, vera.pk, olga.pk)]
    expense_id, settlement_id = together(trip, olga, entries, 2)
    with locked_trip(trip.pk, olga, Can.RECORD) as locked:
        erase(locked, olga, [expense_id], [settlement_id])
    after = state(trip, people)
    assert {**after, "journal": []} == {**before, "journal": []}
    assert after["journal"][-2:] == ["settlement.deleted", "expense.deleted"]
    assert not list(differences())
