"""CSV files of the admin site's lists: what they contain, and that no cell runs as a formula."""

import csv
import io
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models import Model, Subquery
from django.test import Client
from django.test.utils import CaptureQueriesContext

from plugins import admin_pages
from plugins.csv_export import Column, CsvColumns, defused
from plugins.support import csv_columns
from plugins.support.tests.rows import one_of_each
from splits.models import Allocation, Debt, Expense, Settlement
from tests.admin_client import told
from tests.factories import TripFactory, join, settle, spend
from tests.test_linear_time import WORST, require_linear
from tests.walked import merged
from trips.models import Member, Trip
from users.models import ScopedToken, Session, User

pytestmark = pytest.mark.either

SECRETS = {
    User: ("password",),
    Session: ("refresh_jti", "auth_hash"),
    ScopedToken: ("digest", "password_fingerprint"),
    Trip: ("code",),
    **merged("SECRETS"),
}


@pytest.fixture
def filled(trip, olga, ed, vera):
    """`filled()` adds a row to every list but that of rates."""
    return partial(one_of_each, trip, olga, ed, vera)


def exported(client, model, query=""):
    page = client.client.get(f"{client.url(model, 'export')}?{query}")
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/csv")
    assert page.headers["Content-Disposition"].startswith("attachment; filename=")
    return read(b"".join(page.streaming_content))


def read(content):
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_every_list_offers_all_of_its_rows_as_a_file_in_a_constant_number_of_queries(
    admin_client, filled
):
    def queries():
        counts = {}
        for model in admin.site._registry:
            page = admin_client.list(model)
            assert page.context["export_url"] in page.content.decode()
            with CaptureQueriesContext(connection) as context:
                rows = exported(admin_client, model)
            assert len(rows) == page.context["cl"].result_count
            counts[model.__name__] = len(context)
        return counts

    filled()
    queries()  # the first time fills caches
    few = queries()
    filled()
    assert queries() == few
    # Its filters read the kinds of rows and the administrators that it contains.
    assert few.pop("LogEntry") == 8
    # Session, user, count, rows, log, and perhaps a step of the log-in.
    assert set(few.values()) in ({5}, {6})


@pytest.mark.parametrize("model", SECRETS, ids=lambda model: model.__name__)
def test_a_file_contains_no_secret(admin_client, filled, model):
    """T147: A CSV file of the admin site contains no secret and runs no formula."""
    filled()
    row = model._default_manager.order_by("pk").first()
    page = admin_client.client.get(admin_client.url(model, "export"))
    content = b"".join(page.streaming_content).decode()
    for name in SECRETS[model]:
        assert getattr(row, name) not in content
    assert name not in content.partition("\n")[0]


@pytest.mark.parametrize(
    ("currency", "amount", "open_amount"),
    [("EUR", "12.34", "2.34"), ("JPY", "1234", "234"), ("KWD", "1.234", "0.234")],
)
def test_amounts_are_exact_and_have_their_currency_beside_them(
    admin_client, olga, ed, currency, amount, open_amount
):
    trip = TripFactory(currency=currency, budget_minor=1234)
    for user in (olga, ed):
        join(trip, user)
    spend(trip, 1234, paid_by=olga, among=[ed])
    settle(trip, ed, olga, 1000)
    [expense] = exported(admin_client, Expense)
    [debt] = exported(admin_client, Debt)
    [allocation] = exported(admin_client, Allocation)
    rows = (expense, debt, allocation, *exported(admin_client, Settlement))
    assert {row["currency"] for row in rows} == {currency}
    assert (expense["amount"], expense["entered_amount"]) == (amount, amount)
    assert (debt["amount"], debt["open"]) == (amount, open_amount)
    assert exported(admin_client, Trip)[0]["budget"] == amount
    balances = {row["user_id"]: Decimal(row["balance"]) for row in exported(admin_client, Member)}
    assert balances == {str(olga.pk): Decimal(open_amount), str(ed.pk): -Decimal(open_amount)}
    assert debt["debtor_name"] == "Ed Editor"


def test_an_expense_has_its_payers_receipt_and_rate_beside_it(admin_client, trip, olga, ed):
    spend(
        trip,
        3000,
        paid_by=olga,
        among=[ed],
        paid_by_user={ed.pk: 1000, olga.pk: 2000},
        currency="USD",
        exchange_rate=Decimal("0.5"),
        receipt_url="/receipts/7.pdf",
    )
    [row] = exported(admin_client, Expense)
    assert row["payers"] == f"{ed.pk} Ed Editor 10.00; {olga.pk} Olga Owner 20.00"
    assert (row["entered_amount"], row["entered_currency"]) == ("30.00", "USD")
    assert (row["amount"], row["currency"]) == ("15.00", "EUR")
    assert (Decimal(row["exchange_rate"]), row["rate_source"]) == (Decimal("0.5"), "ENTERED")
    assert row["receipt_url"] == "/receipts/7.pdf"


def test_a_file_has_the_filters_the_search_and_the_order_of_its_list(admin_client, trip, olga, ed):
    for description, amount_minor in (("Tram", 300), ("Fado", 900), ("Tram back", 300)):
        spend(trip, amount_minor, paid_by=olga, among=[ed], description=description)
    columns = admin_client.list(Expense).context["cl"].list_display
    order = f"o={columns.index('description')}"
    rows = exported(admin_client, Expense, f"q=tram&trip__id__exact={trip.pk}&{order}")
    assert [row["description"] for row in rows] == ["Tram", "Tram back"]
    wrong = admin_client.client.get(admin_client.url(Expense, "export") + "?trip__id__exact=x")
    assert wrong.status_code == 302


def test_an_export_is_logged_without_what_was_searched_for(admin_client, trip, ada, ed):
    exported(admin_client, User, "q=ed@example&role__exact=USER&o=1")
    entry = LogEntry.objects.get()
    assert entry.user_id == ada.pk
    assert entry.content_type.model == "user"
    assert entry.get_change_message() == "Exported 1 rows as CSV, filtered by q, role__exact."
    assert admin_client.client.get("/admin/").status_code == 200


def test_a_list_that_is_too_long_is_not_exported(admin_client, trip, monkeypatch):
    monkeypatch.setattr(admin_pages, "MAX_ROWS", 2)
    page = admin_client.client.get(admin_client.url(Member, "export") + "?q=example", follow=True)
    assert page.redirect_chain == [("../?q=example", 302)]
    assert told(page) == ["A list of more than 2 rows cannot be exported. Please filter it."]
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("who", ["nobody", "olga"])
def test_only_administrators_export(who, olga):
    client = Client()
    if who == "olga":
        client.force_login(olga)
    page = client.get("/admin/users/user/export/")
    assert (page.status_code, page.headers["Location"][:13]) == (302, "/admin/login/")


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-1+cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "＋1", "－1"),
        *("＠SUM", "tip;=1+1", "tip\t+1", "tip\n@x", 'tip"";=1', '=HYPERLINK("http://x")'),
    ],
)
def test_text_that_a_spreadsheet_would_run_is_defused(admin_client, trip, olga, text):
    spend(trip, 100, paid_by=olga, among=[olga], description=text)
    [row] = exported(admin_client, Expense)
    assert row["description"] == defused(text)
    for separator in (",", ";", "\t"):
        for line in row["description"].splitlines():
            for cell in line.split(separator):
                assert cell.strip()[:1] not in {*"=+-@＝＋－＠"}
    assert row["description"].replace("'", "") == text


@pytest.mark.parametrize("text", ["Dinner, +tip", "a=b", "Ed & Olga - 2", "O'Hara", ""])
def test_other_text_is_exported_as_it_is(text):
    assert defused(text) == text


#: By model, its columns, and those that are left out.
FILES: dict[type[Model], tuple[CsvColumns, set[str]]] = {
    Expense: (csv_columns.EXPENSES, {"number", "divided", "merged_guests"}),
    Settlement: (csv_columns.SETTLEMENTS, {"closing"}),
    Trip: (
        csv_columns.TRIPS,
        {"code", "expenses_recorded", "expenses_that_day", "counted_on", "claimed_guests"},
    ),
}


def lookups_of(columns):
    lookups: set[Any] = set()
    for column in columns.values():
        lookups |= set(column.lookups) if isinstance(column, Column) else {column}
    return {text.split("__")[0] for text in lookups if not isinstance(text, Subquery)}


@pytest.mark.parametrize("model", FILES)
def test_every_column_is_in_the_file_or_left_out_on_purpose(model):
    shown, left_out = FILES[model]
    names = {field.name: {field.name, field.attname} for field in model._meta.concrete_fields}
    assert {name for name, both in names.items() if not both & lookups_of(shown)} == left_out


@pytest.mark.parametrize("piece", WORST)
def test_formulas_are_defused_in_linear_time(piece):
    require_linear(defused, piece)
