"""A prepared queryset gives what the queryset gives, and keeps its statement."""

import sqlite3
from datetime import date
from itertools import islice, product
from string import ascii_uppercase, digits

import pytest
from django.db import connection, models, transaction
from django.test.utils import CaptureQueriesContext

from splits.models import Debt, Expense, Payer, Rate, Settlement, Split
from tests.compiled_only import compiled_only, queries_of_parts
from tests.factories import TripFactory, owned_trip, settle, spend
from tripcompanion.api.serializers import MAX_INTEGER
from tripcompanion.compiled import ArrayParam, CompiledQuery, CompiledUpdate, insert
from trips.models import Member, Trip, get_visible_or_404, lock_trip
from trips.models.events import Event
from trips.models.journal import Entry, JournalEntry, write
from users.models import Session, User, sessions_of


@CompiledQuery
def expenses_in(trip):
    return Expense.objects.with_details().filter(trip=trip).order_by("-id")


@CompiledQuery
def settlements_by_id(ids=ArrayParam("ids")):
    return Settlement.objects.filter(ArrayParam.among(ids, "id")).order_by("id")


@CompiledQuery
def entries_in(trip):
    return JournalEntry.objects.select_related("by").filter(trip=trip).order_by("number")


@CompiledQuery
def debtors_to(creditor):
    rows = Debt.objects.filter(creditor=creditor, open_minor__gt=0).order_by("debtor_id")
    return rows.values_list("debtor_id", "open_minor")


def columns(row):
    """What is loaded of a row, with the rows beside and under it."""
    plain = {name: value for name, value in vars(row).items() if not name.startswith("_")}
    if isinstance(row, Split):
        # The compiled query has it from the expense already.
        plain["trip_currency"] = row.trip_currency
    for name, value in plain.items():
        if isinstance(value, list):
            plain[name] = [columns(part) for part in value]
    for name, related in row._state.fields_cache.items():
        is_parent = isinstance(row, Payer | Split) and name == "expense"
        plain[name] = related.pk if is_parent else related and columns(related)
    return plain


@pytest.fixture
def expenses(trip, olga, ed, vera):
    rows = []
    for amount_minor in (1000, 10_001, 7):
        paid_by_user = {olga.pk: amount_minor - 3, ed.pk: 3}
        among = [olga, ed, vera]
        rows.append(spend(trip, amount_minor, paid_by=olga, among=among, paid_by_user=paid_by_user))
    rows[0].splits.get(participant=vera).pay(by=vera)
    return rows


def test_rows_are_those_of_the_queryset_with_all_that_is_loaded(trip, expenses):
    expected = list(Expense.objects.with_details().filter(trip=trip).order_by("-id"))
    found = list(expenses_in(trip=trip.pk))
    assert found == expected
    assert [columns(row) for row in found] == [columns(row) for row in expected]
    assert [row.pk for row in found] == [row.pk for row in reversed(expenses)]
    assert not any(row._state.adding for row in found)


def test_the_rows_of_a_prefetch_have_exact_integers_and_texts(trip, expenses, olga):
    name = 'Øl "ga" \\ \u2028 😀'
    User.objects.filter(pk=olga.pk).update(name=name)
    Split.objects.filter(trip=trip).update(amount_minor=MAX_INTEGER)
    [*_, found] = expenses_in(trip=trip.pk)
    assert {split.amount_minor for split in found.loaded_splits} == {MAX_INTEGER}
    assert found.loaded_payers[0].user.name == name


@compiled_only
def test_a_prefetch_of_days_is_refused_because_json_has_none(trip):
    @CompiledQuery
    def with_settlements(trip):
        rows = models.Prefetch("settlements", Settlement.objects.all(), "loaded")
        return Trip.objects.filter(pk=trip).prefetch_related(rows)

    with pytest.raises(TypeError, match="cannot be read as JSON"):
        with_settlements.fetch(trip=trip.pk)


def test_each_call_has_its_own_values(trip, expenses, olga):
    other = owned_trip(olga)
    alone = spend(other, 500, paid_by=olga, among=[olga])
    for _again in range(4):
        assert [row.pk for row in expenses_in(trip=other.pk)] == [alone.pk]
        assert len(list(expenses_in(trip=trip.pk))) == 3
    assert expenses_in.first(trip=0) is None


def test_a_page_knows_how_many_rows_there_are_in_all(trip, expenses):
    with CaptureQueriesContext(connection) as captured:
        rows, total = expenses_in(trip=trip.pk).page(2, 1)
    assert ([row.pk for row in rows], total) == ([expenses[1].pk, expenses[0].pk], 3)
    assert len(captured) == 1 + queries_of_parts(2)
    assert expenses_in(trip=trip.pk).page(2, 10) == ([], 3)
    assert expenses_in(trip=0).page(2, 0) == ([], 0)


def test_any_number_of_values_takes_one_statement(trip, olga, ed):
    made = []
    for _count in range(3):
        made.append(settle(trip, ed, olga, 5).pk)
    assert [row.pk for row in settlements_by_id(ids=made)] == made
    assert [row.pk for row in settlements_by_id(ids={made[1]})] == [made[1]]
    assert list(settlements_by_id(ids=[])) == []


def test_a_related_row_that_is_not_there_is_none(trip, ed):
    for author in (None, ed):
        write(trip.pk, author, Entry(Event.TRIP_CHANGED, trip.pk))
    by_service, by_ed = entries_in(trip=trip.pk)
    with CaptureQueriesContext(connection) as captured:
        assert (by_service.by, by_ed.by.name) == (None, "Ed Editor")
    assert not len(captured)


def test_rows_of_values_stay_tuples(expenses, olga, vera):
    rows = Debt.objects.filter(creditor=olga, open_minor__gt=0).order_by("debtor_id")
    expected = list(rows.values_list("debtor_id", "open_minor"))
    assert expected
    assert list(debtors_to(creditor=olga.pk)) == expected


def test_instants_and_uuids_are_what_the_orm_reads(olga):
    session = Session.start(olga)
    found, expected = sessions_of.first(pk=session.pk), Session.objects.get(pk=session.pk)
    assert columns(found) == columns(expected) | {"user": columns(olga)}
    assert found.created_at.utcoffset() is not None


def test_a_value_of_64_bits_arrives_whole(trip, olga, ed):
    """Django's own `server_side_binding` cuts a number in an expression to 32 bits."""
    amounts = [MAX_INTEGER, 2**40 + 1, 2**31, 1]
    made = insert(
        Payer(trip=trip, expense=spend(trip, 100, paid_by=olga, among=[olga]), user=ed, **amount)
        for amount in ({"amount_minor": each, "entered_minor": each} for each in amounts)
    )
    stored = Payer.objects.filter(pk__in=[row.pk for row in made]).order_by("id")
    assert [row.amount_minor for row in stored] == amounts
    for amount_minor in (2**40, 2**62 - 2**40):
        Member.increment_balances(trip.pk, {ed.pk: {"paid_minor": amount_minor}})
    assert trip.members.get(user=ed).paid_minor == 2**62


def test_an_update_takes_its_values_and_its_rows(trip, olga, ed):
    @CompiledUpdate
    def rename(pk, title):
        return Trip.objects.filter(pk=pk), {"title": title}

    other = TripFactory(title="Another")
    for title in ("It's 100 %", "%s"):
        rename(pk=trip.pk, title=title)
        trip.refresh_from_db()
        assert trip.title == title
    other.refresh_from_db()
    assert other.title == "Another"


@compiled_only
def test_a_constant_that_is_no_plain_word_or_number_is_refused():
    quoted = CompiledQuery(lambda: Trip.objects.filter(title="Bobby's tables"))
    with pytest.raises(TypeError, match="cannot be a constant of a compiled statement"):
        list(quoted())


def test_inserted_rows_get_their_ids_in_order(trip, olga, ed):
    expense = spend(trip, 100, paid_by=olga, among=[olga])
    rows = insert(
        Split(trip=trip, expense=expense, participant=person, amount_minor=1) for person in [ed]
    )
    assert Split.objects.get(pk=rows[0].pk).participant == ed
    assert rows[0].created_at == Split.objects.get(pk=rows[0].pk).created_at
    assert insert([]) == []


@pytest.mark.django_db(transaction=True)
def test_a_trip_is_not_locked_outside_a_transaction():
    trip = TripFactory()
    for _again in range(2):
        with pytest.raises(transaction.TransactionManagementError):
            lock_trip(trip.pk)
        with transaction.atomic():
            assert lock_trip(trip.pk) == trip


def test_an_admin_and_a_member_see_by_their_own_statements(trip, olga, vera, ada, sam):
    roles = [
        get_visible_or_404(Trip.objects.all, user, pk=trip.pk).caller_role for user in (ada, vera)
    ]
    assert roles == ["OWNER", "VIEWER"]
    assert get_visible_or_404(Trip.objects.all, olga, pk=trip.pk).caller_role == "OWNER"


def test_more_rows_are_inserted_than_sqlite_takes_values_in_a_statement(db):
    """11,000 rows of three values; by default it is built to take 32,766."""
    if connection.vendor == "sqlite":
        connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
    codes = islice(map("".join, product(ascii_uppercase + digits, repeat=3)), 11_000)
    rows = insert(Rate(currency=code, per_euro=2, day=date(2026, 5, 14)) for code in codes)
    assert Rate.objects.count() == 11_000
    stored = dict(Rate.objects.values_list("pk", "currency"))
    assert stored == {row.pk: row.currency for row in rows}
