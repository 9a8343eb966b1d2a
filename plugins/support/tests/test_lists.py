"""The lists of the ledger in the admin site: filtered and searched by what is typed, and sorted."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plugins.comments.models import Comment
from splits.models import Debt, DeletedEntry, Expense, Settlement
from tests.admin_client import text
from tests.factories import TripFactory, join, settle, spend
from trips.roles import TripRole

pytestmark = pytest.mark.either


@pytest.fixture
def expenses(trip, olga, ed):
    """One in euros, one entered in dollars, one in yen, and one in dinars."""
    yen, dinars = TripFactory(currency="JPY", title="Kyoto"), TripFactory(currency="KWD")
    for other in (yen, dinars):
        join(other, olga, TripRole.OWNER)
    dollars = {"currency": "USD", "exchange_rate": Decimal("0.9")}
    dollars["notes"] = "with crème"
    made = {
        "euros": spend(
            trip, 123450, paid_by=olga, among=[olga, ed], tags=["by the sea", "Café Lisboa"]
        ),
        "dollars": spend(trip, 1000, paid_by=ed, among=[olga], **dollars),
        "yen": spend(
            yen, 1000, paid_by=olga, among=[olga], tags=["By the sea"], expense_date="2026-04-01"
        ),
        "dinars": spend(dinars, 30500, paid_by=olga, among=[olga]),
    }
    for words in ("We took the trolley.", "100% sugar"):
        Comment.write(made["dinars"], olga, words)
    return made


def found(admin_client, model, query):
    return list(admin_client.list(model, query).context["cl"].result_list)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("participant=ed@", {"euros"}),
        ("participant=Olga+Owner&payer=ed@", {"dollars"}),
        ("tag=CAFE", {"euros"}),
        ("tag=by+the", {"euros", "yen"}),
        ("tag=sea+caf", set()),
        ("tag=%25", set()),
        ("paid=true", {"yen", "dinars"}),
        ("paid=false", {"euros", "dollars"}),
        ("paid=maybe", {"euros", "dollars", "yen", "dinars"}),
        ("expense_date__year=2026&expense_date__month=4", {"yen"}),
        ("q=CRÈME", {"dollars"}),
        ("q=café", {"euros"}),
        ("q=trolley+sugar", {"dinars"}),
        ("q='the+trolley'", {"dinars"}),
        ("q='trolley+sugar'", set()),
        ("of_trip=kyo", {"yen"}),
        ("payer=ed@", {"dollars"}),
        ("payer=olga+owner", {"euros", "yen", "dinars"}),
        ("in_currency=usd", {"dollars"}),
        ("amount=1000", {"yen"}),
        ("amount=30.50", {"dinars"}),
        ("amount=9-30.5", {"dollars", "dinars"}),
        ("amount=1,234.50", {"euros"}),
        ("amount=much", set()),
        ("amount=-", set()),
        ("amount=1+2+3", set()),
        ("amount=1000&in_currency=EUR", set()),
        ("q=1,234.50", {"euros"}),
        ("q=30.5", {"dinars"}),
        ("q=kyoto+1000", {"yen"}),
        ("q=NaN", set()),
    ],
)
def test_expenses_are_found_by_what_is_typed(admin_client, expenses, query, names):
    rows = {expenses[name] for name in names}
    assert set(found(admin_client, Expense, query)) == rows


def test_a_reader_types_an_amount_as_it_is_shown(admin_client, expenses):
    admin_client.client.cookies["django_language"] = "es"
    page = text(admin_client.list(Expense, "q=1234,50"))
    assert "234,50 EUR" in page
    assert "1 gasto" in page


def test_a_filter_keeps_the_other_filters(admin_client, expenses):
    page = text(admin_client.list(Expense, "payer=olga&q=1000"))
    assert 'name="payer" value="olga"' in page
    assert page.count('<input type="hidden" name="payer" value="olga">') >= 3
    assert '<input type="hidden" name="q" value="1000">' in page


def test_expenses_are_sorted_by_their_amount(admin_client, expenses):
    order = [expenses[name] for name in ("dollars", "dinars", "yen", "euros")]
    assert found(admin_client, Expense, "o=0") == order
    assert found(admin_client, Expense, "o=-0") == order[::-1]


def test_an_amount_is_the_first_column(admin_client, trip, olga, ed):
    spend(trip, 1234, paid_by=olga, among=[ed])
    settle(trip, ed, olga, 1234).remove(by=olga)
    settle(trip, ed, olga, 1234)
    for model in (Expense, Settlement, Debt, DeletedEntry):
        [row] = admin_client.list(model).context["cl"].result_list
        cells = map(str, admin_client.list(model).context["results"][0])
        assert "12.34" in next(cell for cell in cells if "action-checkbox" not in cell), model
        assert found(admin_client, model, "q=12.34" if model is not DeletedEntry else "") == [row]


def test_the_history_shows_the_journal(admin_client, api, trip, olga, ed):
    expense = spend(trip, 1200, paid_by=olga, among=[olga, ed])
    path = f"/api/trips/{trip.pk}/expenses/{expense.pk}"
    assert api(olga).patch(path, {"amount": 15}).status_code == 200
    settlement = settle(trip, ed, olga, 300)
    shown = {
        row: text(admin_client.client.get(admin_client.url(type(row), "history", row.pk)))
        for row in (trip, expense, settlement)
    }
    changed = "changed the amount from 12.00 to 15.00"
    assert [changed in page for page in shown.values()] == [True, True, False]
    paid = "Ed Editor gave Olga Owner 3.00 EUR"
    assert [paid in page for page in shown.values()] == [True, False, True], shown[settlement]


def test_a_history_without_a_journal_says_so(admin_client, trip, olga):
    comment = Comment.write(spend(trip, 100, paid_by=olga, among=[olga]), olga, "Tasty.")
    page = text(admin_client.client.get(admin_client.url(Comment, "history", comment.pk)))
    assert "have a change history" in page


@pytest.mark.parametrize("model", [Expense, Settlement, Debt, DeletedEntry])
@pytest.mark.parametrize("query", ["q=%22hotel", "q='tis", "q=%22", "q='+%22a"])
def test_a_quote_that_does_not_end_is_a_letter(admin_client, expenses, model, query):
    assert found(admin_client, model, query) == []


def test_the_last_year_of_the_calendar_is_no_filter(admin_client, expenses):
    assert admin_client.list(Expense, "expense_date__year=9998").status_code == 200
    answer = admin_client.list(Expense, "expense_date__year=9999")
    assert (answer.status_code, answer["Location"].endswith("?e=1")) == (302, True)


def test_debts_are_listed_without_joining_the_expenses_of_all(admin_client, expenses):
    with CaptureQueriesContext(connection) as asked:
        page = text(admin_client.list(Debt, ""))
    assert "Dinner" in page
    of_debts = [each["sql"] for each in asked if 'FROM "splits_debt"' in each["sql"]]
    assert of_debts
    for sql in of_debts:
        assert 'JOIN "splits_split" ON' not in sql
