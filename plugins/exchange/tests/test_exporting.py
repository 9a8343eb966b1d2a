"""A trip as a file: who gets it, what is in it, and that it adds up."""

import csv
import io
import json
from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any
from zipfile import ZipFile

import pytest
from django.db import connection
from jsonschema import Draft202012Validator
from openpyxl import load_workbook

from plugins.attachments.models import Attachment
from plugins.comments.models import Comment
from plugins.exchange import sheet
from plugins.exchange.sheet import csv_file
from plugins.exchange.tables import TABLES, TRIP, WRITTEN
from plugins.exchange.trip_file import json_file, trip_schema
from splits.models import Allocation, Debt, Expense, Payer, Settlement, Split, SplitType
from tests.document import ROOT
from tests.factories import add_guest, join, owned_trip, settle, spend
from tests.own_data import PATH, archived
from tests.test_memory import peak_bytes
from tests.test_plans import compared, expenses_like, noting
from tests.wide import copies
from tripcompanion.api.serializers import camel_case
from trips.models import JournalEntry, Member, Trip

pytestmark = pytest.mark.either

DAY = date(2026, 5, 14)
SCHEMA = ROOT / "docs" / "trip-export.schema.json"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@pytest.fixture
def lived(trip, olga, ed, vera, api):
    """A trip with every kind of entry: several payers, another currency, a guest, comments."""
    grandma = add_guest(trip, "=Grandma")
    texts: dict[str, Any] = {"description": "=1+1", "tags": ["fish", "by the sea"]}
    boat = spend(trip, 1000, paid_by=olga, among=[olga, ed, vera], **texts)
    spend(
        trip, 6000, paid_by=olga, among=[ed, grandma], currency="USD",
        exchange_rate=Decimal("0.925"), paid_by_user={olga.pk: 4000, vera.pk: 2000},
        entered={ed.pk: 333_333, grandma.pk: 666_667}, split_type=SplitType.PERCENTAGE,
    )  # fmt: skip
    settle(trip, ed, olga, 400, note="@cash")
    api(ed).post(f"/api/expenses/{boat.pk}/comments", {"text": "Six of them."})
    return trip


def path(trip, kind="json"):
    return f"/api/trips/{trip.pk}/export?format={kind}"


def exported(client, trip):
    response = client.get(path(trip))
    assert response.status_code == 200
    return json.loads(response.content, parse_float=Decimal)


def table(client, trip):
    response = client.get(path(trip, "csv"))
    assert (response.status_code, response["Content-Type"]) == (200, "text/csv")
    return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))


def test_the_file_has_everything_that_was_entered(api, lived, olga, ed, vera):
    held = exported(api(vera), lived)
    assert (held["format"], held["version"]) == ("trip-companion", 1)
    assert held["trip"]["title"] == lived.title
    names = {person["name"]: person for person in held["people"]}
    assert names["Ed Editor"] == {
        "id": ed.pk, "name": "Ed Editor", "email": "ed@example.com", "guest": False,
    }  # fmt: skip
    assert names["=Grandma"]["email"] is None
    boat, dinner = held["expenses"]
    assert (boat["description"], boat["amount"]) == ("=1+1", Decimal("10.00"))
    assert (dinner["amount"], dinner["entered"], dinner["currency"]) == (
        Decimal("55.50"), Decimal("60.00"), "USD",
    )  # fmt: skip
    assert dinner["exchangeRate"] == Decimal("0.925")
    paid = [row for row in held["payers"] if row["expenseId"] == dinner["id"]]
    assert [(row["userId"], row["entered"]) for row in paid] == [(olga.pk, 40), (vera.pk, 20)]
    entered = [row["percentage"] for row in held["splits"] if row["expenseId"] == dinner["id"]]
    assert entered == [Decimal("33.3333"), Decimal("66.6667")]
    assert [row["text"] for row in held["comments"]] == ["Six of them."]
    [handed] = held["settlements"]
    covered = [row["amount"] for row in held["allocations"]]
    assert sum(covered) + handed["credit"] == handed["amount"] == 4
    numbers = [row["number"] for row in held["history"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert held["history"][-1]["changes"]["text"]["new"] == "Six of them."


def test_the_file_matches_its_schema(api, lived, olga):
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    held = json.loads(api(olga).get(path(lived)).content)
    assert [error.message for error in validator.iter_errors(held)] == []
    del held["expenses"][0]["entered"]
    assert [error.message for error in validator.iter_errors(held)] != []


def test_the_schema_is_up_to_date():
    assert json.loads(SCHEMA.read_text()) == trip_schema(), "Run `make schema`."


#: Columns that no file has, by model: of the service itself, of the storage, and codes that open a
#: trip. All other columns are in the JSON.
LEFT_OUT = {
    Trip: {"code", "deleted_at", "expenses_that_day", "counted_on"},
    Member: {"id", "trip_id", "introduced_by"},
    Payer: {"id", "trip_id"},
    Allocation: {"id", "trip_id"},
    JournalEntry: {"id", "trip_id"},
    Attachment: {"trip_id", "file", "thumbnail", "attempts", "claimed_until"},
}
#: Columns of expenses and settlements that a table for people has under another name, or not.
NOT_IN_TABLES = {
    Expense: {
        *("trip_id", "number", "divided", "merged_guests", "stored_items", "created_by_id"),
        *("expense_date", "amount_minor", "entered_minor"),
        *("exchange_rate", "rate_source", "rate_day", "created_at", "updated_at"),
    },
    Settlement: {
        *(
            "trip_id",
            "closing_id",
            "split_id",
            "created_by_id",
            "created_at",
            "credit_minor",
            "amount_minor",
        ),
        *("sender_id", "receiver_id", "settled_on", "note", "foreign_minor", "foreign_currency"),
        *("exchange_rate", "rate_source", "rate_day"),
    },
}


def test_every_column_is_in_the_file_or_left_out_on_purpose():
    exported = (TRIP, *TABLES, *WRITTEN)
    of_trips = (Trip, Member, Expense, Payer, Split, Debt, Settlement, Allocation, Comment)
    for model in (*of_trips, JournalEntry, Attachment):
        columns = {field.attname for field in model._meta.concrete_fields}
        tables = (table for table in exported if table.model is model)
        held = {column.field.attname for table in tables for column in table.columns}
        # What a client called it says nothing in another trip.
        left_out = LEFT_OUT.get(model, {"trip_id"}) | (columns & {"client_id"})
        assert columns - held == left_out, model


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_every_column_is_in_the_table_or_left_out_on_purpose(kind, api, lived, olga):
    content = api(olga).get(path(lived, kind)).content
    if kind == "csv":
        heading = next(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    else:
        [page] = load_workbook(io.BytesIO(content)).worksheets
        heading = [cell.value for cell in next(page.iter_rows())]
    for model in (Expense, Settlement):
        columns = {field.attname for field in model._meta.concrete_fields}
        missing = {name for name in columns if camel_case(name) not in heading}
        assert missing == NOT_IN_TABLES[model] | {"client_id"}, model
    assert {"date", "amount", "tripAmount", "notes", "tags"} <= {*heading}


def test_no_code_of_the_trip_is_in_the_file(api, olga):
    started = Trip.start(olga, title="Tour", destination="Porto", start_date=DAY, end_date=DAY)
    started.renew_code(olga)
    assert (journal := JournalEntry.objects.filter(trip=started)).count() == 3
    content = api(olga).get(path(started)).content.decode()
    for code in (started.code, Trip.objects.get(pk=started.pk).code):
        assert any(code in row.stored_changes for row in journal)
        assert code not in content


def test_addresses_of_those_who_have_not_answered_are_hidden(api, trip, olga, vera, sam):
    body = {"email": sam.email, "role": "VIEWER"}
    assert api(olga).post(f"/api/trips/{trip.pk}/members", body).status_code == 201
    addresses = {
        name: {person["name"]: person["email"] for person in exported(api(reader), trip)["people"]}
        for name, reader in (("olga", olga), ("vera", vera))
    }
    assert addresses["olga"]["Sam Stranger"] == sam.email
    assert addresses["vera"]["Sam Stranger"] is None


def test_the_columns_of_the_table_add_up_to_the_balances(api, lived, olga):
    lines = table(api(olga), lived)
    assert [line["type"] for line in lines] == ["expense", "expense", "settlement"]
    sums: Counter[tuple[str, str]] = Counter()
    for line in lines:
        sides: Counter[str] = Counter()
        for column, text in line.items():
            name, colon, side = column.rpartition(": ")
            if colon and text:
                sums[name, side] += Decimal(text)
                sides[side] += Decimal(text)
        assert sides == dict.fromkeys(("put in", "part"), Decimal(line["tripAmount"]))
    balances = api(olga).get(f"/api/trips/{lived.pk}/balances").json()
    for row in balances:
        name = row["user"]["name"].replace("=", "'=")
        assert sums[name, "put in"] - sums[name, "part"] == Decimal(str(row["balance"]))


def test_no_cell_of_the_table_is_a_formula(api, lived, olga):
    boat, _dinner, handed = table(api(olga), lived)
    assert (boat["description"], handed["notes"]) == ("'=1+1", "'@cash")
    assert boat["tags"] == "fish, by the sea"
    assert any(column.startswith("'=Grandma") for column in boat)


def test_a_workbook_has_the_same_cells_and_no_formula(api, lived, olga):
    response = api(olga).get(f"/api/trips/{lived.pk}/export", headers={"accept": XLSX})
    assert response["Content-Type"] == XLSX
    [page] = load_workbook(io.BytesIO(response.content)).worksheets
    heading, *lines = page.iter_rows()
    assert {cell.data_type for line in page.iter_rows() for cell in line} <= {"s", "n", "d"}
    assert len(lines) == len(table(api(olga), lived)) == 3
    place = [cell.value for cell in heading].index("description")
    assert [line[place].value for line in lines][0] == "=1+1"


def test_a_full_sheet_continues_on_the_next_one(api, lived, olga, monkeypatch):
    monkeypatch.setattr(sheet, "MAX_SHEET_ROWS", 3)
    pages = load_workbook(io.BytesIO(api(olga).get(path(lived, "xlsx")).content)).worksheets
    assert [page.max_row for page in pages] == [3, 2]
    assert [page["A1"].value for page in pages] == ["type", "type"]


def test_people_of_the_same_name_have_their_ids(api, trip, olga, ed):
    twin = add_guest(trip, ed.name)
    spend(trip, 200, paid_by=olga, among=[ed, twin])
    [line] = table(api(olga), trip)
    assert line[f"Ed Editor ({ed.pk}): part"] == line[f"Ed Editor ({twin.pk}): part"] == "1.00"


def test_more_people_than_columns_are_refused(api, trip, olga, monkeypatch):
    monkeypatch.setattr(sheet, "MAX_PEOPLE", 2)
    response = api(olga).get(path(trip, "csv"))
    assert (response.status_code, response.json()["code"]) == (409, "limit_reached")
    assert response["Content-Type"] == "application/problem+json"


def test_the_file_has_a_name_and_its_type(api, trip, olga):
    response = api(olga).get(f"/api/trips/{trip.pk}/export")
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"].startswith(f'attachment; filename="trip-{trip.pk}-')


@archived
def test_the_archive_of_an_account_has_each_trip_as_it_is_exported(api, trip, ed):
    client = api(ed)
    response = client.get(f"{PATH}?format=zip")
    with ZipFile(io.BytesIO(response.content)) as archive:
        assert [name for name in archive.namelist() if name.startswith("trips/")] == [
            f"trips/{trip.pk}.json"
        ]
        archived = json.loads(archive.read(f"trips/{trip.pk}.json"))
    exported = client.get(f"/api/trips/{trip.pk}/export").json()
    assert archived | {"exportedAt": None} == exported | {"exportedAt": None}


@pytest.mark.postgresql
def test_an_export_reads_no_allocations_of_other_trips(trip, olga, ed):
    other = owned_trip(olga)
    join(other, ed)
    for at in (trip, other):
        spend(at, 100, paid_by=olga, among=[ed])
        settle(at, ed, olga, 100)
    allocation = Allocation.objects.get(trip=other)
    expenses_like(other.expenses.get(), 2000)
    copies(allocation, 2000, debt_id=f"{allocation.debt_id} + n")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE splits_allocation, splits_debt")
    [table] = [table for table in TABLES if table.model is Allocation]
    with noting("SELECT") as asked:
        [row] = table.rows(trip)
    assert row["debtId"] == Debt.objects.get(trip=trip).pk
    assert compared(*asked[0]) < 100


def test_an_export_joins_no_tables_of_the_ledger(lived):
    """It would compare all rows with each other in a trip that PostgreSQL does not know."""
    with noting("SELECT") as asked:
        for table in TABLES:
            if table.model in {Allocation, Debt, Expense, Payer, Settlement, Split}:
                list(table.rows(lived))
    assert [sql for sql, _values in asked if " JOIN " in sql] == []


@pytest.mark.parametrize("write", [json_file, csv_file])
def test_an_export_holds_few_rows_with_long_texts(trip, olga, write):
    expense = spend(trip, 100, paid_by=olga, among=[olga])
    items = {"items": [{"name": "x" * 200_000, "amount": 1, "shares": {str(olga.pk): 1}}]}
    trip.expenses.update(stored_items=json.dumps(items))
    copies(expense, 300, number="n")
    assert peak_bytes(lambda: write(trip).close()) < 50_000_000
