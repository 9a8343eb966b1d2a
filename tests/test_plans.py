"""With 10,000 expenses in a trip no request reads a table from end to end."""

import re
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction

from benchmarks.open_debts import fill
from splits.models import Split
from splits.reports.audit import differences
from tests import citus
from tests.bulk import OPEN_DEBTS, analyse, long_trip
from tests.compiled_only import compiled_only
from tests.factories import owned_trip, spend
from tests.trips.bodies import dinner
from tests.wide import copies

pytestmark = citus.hides_plans

#: The tables that grow with what people spend.
LEDGER = {
    *("splits_allocation", "splits_debt", "splits_expense"),
    *("splits_payer", "splits_settlement", "splits_split"),
}
#: And those that grow with how many people there are.
BIG = {*LEDGER, "trips_member", "trips_trip", "trips_journalentry"}
#: A small part of all debts that there are.
CLOSED_DEBTS = 500
#: The expenses of a trip that PostgreSQL does not know.
MANY = 3_000
#: What PostgreSQL adds to the cost of a plan that is made for certain values, for a few tables.
_COST_OF_PLANNING = 10
_READS_OR_WRITES = "SELECT|UPDATE|DELETE|INSERT INTO trips_journalentry"
_COUNTED = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter")
_NODE_OF_SQLITE = re.compile(r"SCAN (\w+)")


Statement = tuple[str, Any]


def full_scans(sql, values=(), big=BIG, *, for_any_values=True):
    """The `big` tables that the database means to read as a whole.

    What PostgreSQL keeps, it may plan `for_any_values` instead of these, if that costs no more. It
    keeps compiled statements only: Django puts the values into the text of all others.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            scanned, cost = scanned_by(sql, values)
            if for_any_values and settings.COMPILED_QUERIES and sql.startswith("SELECT"):
                by_anybody, cost_of_any = scanned_by_anybody(cursor, sql, values)
                if cost_of_any <= cost + _COST_OF_PLANNING:
                    scanned += by_anybody
        else:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", values)
            found = [_NODE_OF_SQLITE.match(row[-1]) for row in cursor.fetchall()]
            names = aliases(sql)
            scanned = [names.get(node[1], node[1]) for node in found if node]
    return sorted({*big}.intersection(scanned))


@contextmanager
def noting(pattern=""):
    """The statements of the block that begin like that, with their values."""
    written: list[Statement] = []

    def note(execute, sql, values, many, context):
        if re.match(pattern, sql):
            written.append((sql, values))
        return execute(sql, values, many, context)

    with connection.execute_wrapper(note):
        yield written


def scans_of(call, big):
    """The statements of a call that read a table of `big` as a whole, with these tables."""
    with noting() as written:
        call()
    # A plan for messages in any state would read them all, so PostgreSQL makes none.
    scans = {
        sql: full_scans(sql, values, big, for_any_values=False)
        for sql, values in written
        if sql.startswith(("SELECT", "UPDATE"))
    }
    assert scans
    return {sql: tables for sql, tables in scans.items() if tables}


def explained(sql, values, options="FORMAT JSON"):
    """The plan of PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN ({options}) {sql}", values)
        [[[whole]]] = cursor.fetchall()
    return whole["Plan"]


def scanned_by(sql, values):
    """The tables that the plan reads as a whole, and what PostgreSQL thinks that it costs."""
    plan = explained(sql, values)
    scans = [node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"]
    return scans, plan["Total Cost"]


def scanned_by_anybody(cursor, sql, values):
    first, *others = sql.split("%s")
    text = first + "".join(f"${at}{other}" for at, other in enumerate(others, start=1))
    cursor.execute("SET plan_cache_mode = force_generic_plan")
    cursor.execute(f"PREPARE asked AS {text.replace('%%', '%')}")
    try:
        given = f"({', '.join(['%s'] * len(values))})" if values else ""
        return scanned_by(f"EXECUTE asked{given}", values)
    finally:
        cursor.execute("DEALLOCATE asked")
        cursor.execute("RESET plan_cache_mode")


def nodes(plan):
    yield plan
    for inner in plan.get("Plans", ()):
        yield from nodes(inner)


def aliases(sql):
    """The tables of a statement by the names that it gives them."""
    return {alias: table for table, alias in re.findall(r'"(\w+)" (?:AS )?"?([T-W]\d+)"?', sql)}


def asked_of_a_long_trip(api):
    """The statements of each hot request on a long trip."""
    trip, people = long_trip()
    owner, debtor = people[:2]
    path = f"/api/trips/{trip.pk}"
    newest = trip.expenses.latest("id")
    split = Split.objects.filter(participant=debtor, debts__open_minor__gt=0).latest("id")
    # All others are of the day before.
    body = dinner(*people, expenseDate="2026-05-15")
    mine, theirs = api(owner), api(debtor)
    requests = {
        "expense": lambda: mine.get(f"{path}/expenses/{newest.pk}"),
        "page": lambda: mine.get(f"{path}/expenses?pageSize=50"),
        "last page": lambda: mine.get(f"{path}/expenses?pageSize=50&page=200"),
        "splits": lambda: mine.get(f"/api/expenses/{newest.pk}/splits"),
        "settlements": lambda: mine.get(f"{path}/settlements"),
        "balances": lambda: mine.get(f"{path}/balances"),
        "settle-up": lambda: mine.get(f"{path}/settle-up"),
        "my trips": lambda: mine.get("/api/trips/my-trips"),
        "pending debts": lambda: theirs.get(f"/api/users/{debtor.pk}/pending-debts"),
        "total debt": lambda: theirs.get(f"/api/users/{debtor.pk}/total-debt"),
        "create": lambda: mine.post(f"{path}/expenses", body),
        "pay": lambda: theirs.put(f"/api/expenses/{split.expense_id}/splits/{split.pk}/pay"),
    }
    statements, answers = noted(requests)
    assert len(answers["pending debts"].json()) == OPEN_DEBTS
    return statements


def asked_of_a_closed_trip(api):
    """The statements of requests about a trip that is closed and opened, beside a long one."""
    trip = fill(CLOSED_DEBTS)
    analyse()
    first, *_others, last = (m.user for m in trip.members.order_by("user_id"))
    mine, theirs, path = api(first), api(last), f"/api/trips/{trip.pk}"
    there, back = ({"fromUserId": a.pk, "toUserId": b.pk, "amount": 1} for a, b in (
        (first, last), (last, first)
    ))  # fmt: skip
    expense = dinner(last)
    closed = trip.expenses.earliest("id")
    unpaid = closed.splits.get(participant=last)

    def newest():
        return trip.settlements.latest("id").pk

    statements, answers = noted(
        {
            "settle": lambda: mine.post(f"{path}/settlements", there),
            "close": lambda: mine.post(f"{path}/settlements", back),
            "page": lambda: mine.get(f"{path}/expenses?pageSize=50"),
            "pending debts": lambda: theirs.get(f"/api/users/{last.pk}/pending-debts"),
            "create": lambda: mine.post(f"{path}/expenses", expense),
            "pending debt": lambda: theirs.get(f"/api/users/{last.pk}/pending-debts"),
            "unpay": lambda: mine.put(f"/api/expenses/{closed.pk}/splits/{unpaid.pk}/unpay"),
            "open": lambda: mine.delete(f"{path}/settlements/{newest()}"),
            "pending debts again": lambda: theirs.get(f"/api/users/{last.pk}/pending-debts"),
        }
    )
    pending = {name: len(found.json()) for name, found in answers.items() if "pending" in name}
    of_last = CLOSED_DEBTS // 50
    assert pending == {
        "pending debts": 0, "pending debt": 1, "pending debts again": of_last + 1
    }  # fmt: skip
    return statements


def noted(requests):
    """The statements of each request, and its answer."""
    statements: dict[str, list[Statement]] = {}
    answers = {}
    for name, request in requests.items():
        with noting(_READS_OR_WRITES) as statements[name]:
            answers[name] = request()
        assert answers[name].status_code in {200, 201, 204}, name
    return statements, answers


def scanning(asked):
    """The big tables that the statements read as a whole, by request and statement."""
    return {
        (name, sql): tables
        for name, statements in asked.items()
        for sql, values in statements
        if (tables := full_scans(sql, values))
    }


def test_no_request_reads_a_table_from_end_to_end(api, transactional_db):
    asked = asked_of_a_long_trip(api)
    assert not scanning(asked)
    _session, (sql, _values) = asked["total debt"]
    assert "trips_member" in sql
    assert [table for table in LEDGER if table in sql] == []
    if connection.vendor == "postgresql":
        assert_looked_up(asked["pending debts"])
    assert not scanning(asked_of_a_closed_trip(api))


def plan_of(sql, values):
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}", values)
        return "\n".join(row[-1] for row in cursor.fetchall())


def assert_looked_up(pending_debts):
    """Open splits are looked up and not joined.

    A join would read all splits there are, as soon as many debts of many people are open.
    """
    _session, statement = pending_debts
    found = {node.get("Parent Relationship") for node in nodes(explained(*statement))}
    assert "InitPlan" in found


@pytest.mark.django_db
def test_a_scan_would_be_noticed():
    assert full_scans("SELECT * FROM splits_debt WHERE amount_minor = 7") == ["splits_debt"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has statistics")
@pytest.mark.django_db
def test_the_debts_of_a_split_are_found_without_those_of_the_whole_trip():
    plan = Split.objects.with_open_amounts().filter(trip=1).explain()
    assert plan.count("USING INDEX debt_of_split (trip_id=? AND split_id=?)") == 2


@compiled_only
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite skips rows before their columns")
def test_the_last_page_computes_nothing_of_the_pages_before(api, trip, olga):
    for _expense in range(5):
        spend(trip, 100, paid_by=olga, among=[olga])
    statements, _answers = noted(
        {"page": lambda: api(olga).get(f"/api/trips/{trip.pk}/expenses?pageSize=1&page=5")}
    )
    [(sql, values)] = [one for one in statements["page"] if "splits_payer" in one[0]]
    plan = explained(sql, values, "ANALYZE, FORMAT JSON")
    reads = [n for n in nodes(plan) if n.get("Relation Name") == "splits_payer"]
    assert [node["Actual Loops"] for node in reads] == [1]


def expenses_like(expense, many):
    """So many copies of an expense in the same trip, with their payers, splits and debts."""
    in_expense = {"expense_id": f"{copies(expense, many, number='number + n')} + n"}
    copies(expense.payers.get(), many, **in_expense)
    for split in expense.splits.all():
        split_id = f"{copies(split, many, **in_expense)} + n"
        for debt in split.debts.all():
            copies(debt, many, split_id=split_id)


def forget_statistics():
    """As if the database had never been analysed."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM pg_statistic WHERE starelid::regclass::text ~ '^splits_'")
        cursor.execute(
            "UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relname ~ '^splits_'"
        )


def fill_unknown(trip, olga, ed, *, is_analysed):
    """Fill a trip that PostgreSQL has never analysed, or only when there were small ones."""
    if is_analysed:
        other = owned_trip(olga)
        expenses_like(spend(other, 100, paid_by=olga, among=[olga]), 40)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    expenses_like(spend(trip, 100, paid_by=olga, among=[ed, olga]), MANY)
    if not is_analysed:
        forget_statistics()


def compared(sql, values):
    """How many rows PostgreSQL reads or compares for a statement."""
    return sum(
        sum(node.get(name, 0) for name in _COUNTED) * node["Actual Loops"]
        for node in nodes(explained(sql, values, "ANALYZE, FORMAT JSON"))
    )


in_either_state = pytest.mark.parametrize("is_analysed", [False, True])


@pytest.mark.postgresql
@in_either_state
def test_without_statistics_no_request_compares_all_rows_with_each_other(
    api, trip, olga, ed, is_analysed
):
    """As of a trip that was just imported."""
    fill_unknown(trip, olga, ed, is_analysed=is_analysed)
    client, path = api(ed), f"/api/trips/{trip.pk}"
    statements, _answers = noted(
        {
            query: lambda query=query: client.get(f"{path}/{query}")
            for query in (
                "statistics",
                "expenses?paid=true",
                "expenses?paid=false&pageSize=5",
                f"expenses?participant={ed.pk}",
                f"expenses?payer={olga.pk}&paidBy={olga.pk}",
            )
        }
    )
    for name, asked in statements.items():
        for sql, values in asked:
            assert compared(sql, values) < MANY * 50, (name, sql)


@pytest.mark.postgresql
@in_either_state
def test_without_statistics_the_audit_compares_few_rows(trip, olga, ed, is_analysed):
    """As that of a copy of a trip, within the transaction that writes it."""
    fill_unknown(trip, olga, ed, is_analysed=is_analysed)
    with noting("SELECT") as asked:
        list(differences(trip.pk))
    assert len(asked) > 20
    for sql, values in asked:
        assert compared(sql, values) < MANY * 50, sql


def dearest(send, *request):
    """The statement of a request that compares the most rows, after their number."""
    dear = [(0, "")]

    def note(execute, sql, values, many, context):
        if sql.lstrip().startswith(("SELECT", "INSERT", "UPDATE", "DELETE")):
            with transaction.atomic():
                dear.append((compared(sql, values), sql))
                transaction.set_rollback(True)
        return execute(sql, values, many, context)

    with connection.execute_wrapper(note):
        assert send(*request).status_code in {200, 204}
    return max(dear)


@pytest.mark.postgresql
@in_either_state
@pytest.mark.parametrize("covered", [140, 600])
def test_without_statistics_what_covers_many_debts_is_undone_row_by_row(
    api, trip, olga, ed, is_analysed, covered
):
    """What a payment covered, an expense that it covered, and a split that was paid."""
    fill_unknown(trip, olga, ed, is_analysed=is_analysed)
    trip.members.filter(user=ed).update(owed_minor=50 * (MANY + 1))
    client, path = api(olga), f"/api/trips/{trip.pk}"
    payment = {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": covered / 2}
    paid = client.post(f"{path}/settlements", payment).json()["id"]
    expense = trip.expenses.earliest("id")
    split = f"/api/expenses/{expense.pk}/splits/{expense.splits.get(participant=ed).pk}"
    for row in (f"{path}/expenses/{expense.pk}", f"{path}/settlements/{paid}"):
        rows, sql = max(dearest(client.delete, row), dearest(client.post, f"{row}/restore"))
        assert rows < MANY * 50, sql
    rows, sql = dearest(client.put, f"{split}/unpay")
    assert rows < MANY * 50, sql


@pytest.mark.postgresql
def test_a_trip_is_closed_without_a_join(api, trip, olga, ed):
    """One would compare each debt with all payments of a trip that PostgreSQL does not know."""
    for payer in (olga, ed):
        spend(trip, 2000, paid_by=payer, among=[ed, olga])
    client, path = api(olga), f"/api/trips/{trip.pk}/settlements"
    client.post(path, {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": 1})
    with noting("INSERT INTO splits_allocation") as asked:
        client.post(path, {"fromUserId": olga.pk, "toUserId": ed.pk, "amount": 1})
    assert not trip.debts.filter(open_minor__gt=0).exists()
    [(sql, values)] = asked
    kinds = " ".join(node["Node Type"] for node in nodes(explained(sql, values)))
    assert "Join" not in kinds
    assert "Loop" not in kinds
