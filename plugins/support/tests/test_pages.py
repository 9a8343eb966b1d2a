"""The admin site: who enters, what it shows, and that it keeps its hands off the ledger."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from plugins.support.tests.rows import one_of_each
from splits.models import Allocation, Debt, Expense, Settlement
from tests.admin_client import tables, text
from tests.factories import PASSWORD, TripFactory, join, settle, spend
from tests.stored import everything_stored
from trips.models import Member, Trip
from users.models import ScopedToken, Session, User

pytestmark = pytest.mark.either

PEOPLE = (User, Member, Trip)
#: What nobody may change there.
BOOKS = [model for model in admin.site._registry if model not in PEOPLE]


@pytest.fixture
def fill(admin_client, trip, olga, ed, vera):
    """`fill(10)` tops the trip up to 10 rows of each kind."""

    def fill_up_to(rows):
        for _number in range(trip.expenses.count(), rows):
            one_of_each(trip, olga, ed, vera)
        admin_client.act("confirm_addresses", *User.objects.filter(email_verified_at=None))

    return fill_up_to


def row_of(model):
    return model._default_manager.order_by("pk").first()


def test_an_administrator_logs_in_with_e_mail_and_password(ada):
    client = Client()
    page = client.post(
        "/admin/login/?next=/admin/", {"username": "ADA@example.com", "password": PASSWORD}
    )
    assert (page.status_code, page.headers["Location"]) == (302, "/admin/")
    assert "Trip Companion" in client.get("/admin/").content.decode()


def test_who_is_no_administrator_stays_outside(olga):
    client = Client()
    page = client.post("/admin/login/", {"username": olga.email, "password": PASSWORD})
    assert page.status_code == 200
    assert page.context["form"].errors
    client.force_login(olga)
    assert client.get("/admin/").status_code == 302


def test_guessing_an_administrators_password_is_limited(ada, limits):
    limits(login="3/min")
    client = Client()
    for password in ("one", "two", "three", PASSWORD):
        client.post("/admin/login/", {"username": ada.email, "password": password})
    assert client.get("/admin/").status_code == 302


def test_there_are_no_groups(admin_client):
    assert Group not in admin.site._registry
    assert "Group" not in admin_client.client.get("/admin/").content.decode()


def test_every_page_opens(admin_client, fill):
    fill(2)
    for model in (*PEOPLE, *BOOKS):
        shown = admin_client.list(model)
        assert shown.status_code == 200, model
        # No link is in another one.
        assert not re.search(r"<a\b((?!</a>).)*<a\b", shown.content.decode(), re.DOTALL), model
        assert admin_client.list(model, "q=olga").status_code == 200, model
        assert admin_client.page(row_of(model)).status_code == 200, model


def test_nothing_in_the_books_can_be_added_changed_or_deleted(admin_client, fill):
    fill(1)
    before = everything_stored()
    for model in BOOKS:
        client, row = admin_client.client, row_of(model)
        assert client.post(admin_client.url(model, "add"), {}).status_code == 403, model
        for page in ("change", "delete"):
            answer = client.post(admin_client.url(model, page, row.pk), {"post": "yes"})
            assert answer.status_code == 403, (model, page)
        assert "delete_selected" not in admin_client.list(model).content.decode(), model
    assert everything_stored() == before


def test_members_are_sorted_by_every_column(admin_client, trip, olga, ed):
    spend(trip, 100, paid_by=olga, among=[olga, ed])
    for column in range(1, 10):
        assert admin_client.list(Member, f"o={column}").status_code == 200
    creditors_last = admin_client.list(Member, "o=5").context["cl"].result_list
    balances = [member.balance_minor for member in creditors_last]
    assert balances == sorted(balances)


def test_members_cannot_be_deleted(admin_client, trip):
    row = row_of(Member)
    answer = admin_client.client.post(admin_client.url(Member, "delete", row.pk), {"post": "yes"})
    assert answer.status_code == 403
    assert Member.objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize(
    ("currency", "shown"), [("EUR", "12.34 EUR"), ("JPY", "1,234 JPY"), ("KWD", "1.234 KWD")]
)
def test_money_is_shown_in_major_units_with_its_currency(admin_client, olga, ed, currency, shown):
    trip = TripFactory(currency=currency)
    join(trip, olga)
    join(trip, ed)
    expense = spend(trip, 1234, paid_by=olga, among=[ed])
    debt = Debt.objects.get()
    expense.splits.get().pay(ed)
    rows = (expense, debt, Settlement.objects.get(), Allocation.objects.get(), trip)
    for row in rows:
        assert shown in text(admin_client.page(row)), row
    for model in (Expense, Debt, Settlement, Allocation):
        assert shown in text(admin_client.list(model)), model


def test_an_expense_shows_who_paid_and_which_splits_are_paid(admin_client, trip, olga, ed, vera):
    expense = spend(trip, 900, paid_by=olga, among=[olga, ed, vera])
    expense.splits.get(participant=ed).pay(ed)
    page = text(admin_client.page(expense))
    payers, splits = (tables(page)[name] for name in ("Payers:", "Splits:"))
    assert payers == [["Olga Owner", "9.00 EUR"]]
    assert [row[:4] for row in splits] == [
        ["Olga Owner", "3.00 EUR", "3.00 EUR", "True"],
        ["Ed Editor", "3.00 EUR", "3.00 EUR", "True"],
        ["Vera Viewer", "3.00 EUR", "0.00 EUR", "False"],
    ]


def test_an_expense_in_another_currency_shows_both_amounts(admin_client, trip, olga):
    expense = spend(
        trip, 1000, paid_by=olga, among=[olga], currency="USD", exchange_rate=Decimal("0.9")
    )
    page = text(admin_client.page(expense))
    assert "10.00 USD" in page
    assert "9.00 EUR" in page


def test_the_page_of_a_trip_shows_the_first_rows_and_leads_to_the_rest(admin_client, trip, olga):
    for day in range(25):
        spend(
            trip,
            100,
            paid_by=olga,
            among=[olga],
            description=f"Day {day:02}",
            expense_date=trip.start_date + timedelta(days=day),
        )
    page = text(admin_client.page(trip))
    shown = [row[1] for row in tables(page)["Expenses:"]]
    assert shown == [f"Day {day:02}" for day in range(24, 4, -1)]
    link = f"/admin/splits/expense/?trip__id__exact={trip.pk}"
    assert f'<a href="{link}">all 25</a>' in page
    assert admin_client.client.get(link).context["cl"].result_count == 25


def test_what_is_closed_is_not_open_and_names_what_closed_it(admin_client, trip, olga, ed):
    """Olga and Ed owe each other, and a settlement makes up for one more expense."""
    for payer, debtor, amount_minor in ((olga, ed, 900), (ed, olga, 900), (olga, ed, 200)):
        spend(trip, amount_minor, paid_by=payer, among=[debtor])
    for at, amount_minor in enumerate((50, 150)):
        money = settle(trip, ed, olga, amount_minor, note=f"No. {at}")
    assert not admin_client.list(Debt, "state=open").context["cl"].result_list
    assert admin_client.list(Debt, "state=covered").context["cl"].result_count == 3
    debt = Debt.objects.get(debtor=olga)
    shown = text(admin_client.page(debt))
    assert "0.00 EUR" in shown
    assert f"#{money.pk}" in shown
    Settlement.objects.get(pk=money.pk).remove(by=olga)
    assert admin_client.list(Debt, "state=open").context["cl"].result_count == 3
    assert f"#{money.pk}" not in text(admin_client.page(debt))


def test_log_ins_can_be_ended(admin_client, olga, ed):
    session, other = Session.start(olga), Session.start(ed)
    admin_client.act("end", session)
    assert list(Session.objects.active()) == [other]
    for state, sessions in {"active": [other], "ended": [session]}.items():
        rows = admin_client.list(Session, f"state={state}").context["cl"].result_list
        assert list(rows) == sessions


def test_the_secrets_of_a_log_in_are_not_shown(admin_client, olga):
    session = Session.start(olga)
    page = admin_client.page(session).content.decode()
    assert session.refresh_jti not in page
    assert session.auth_hash not in page


def test_scoped_tokens_can_be_ended_and_what_they_are_checked_by_is_not_shown(admin_client, olga):
    token, other = (
        ScopedToken.issue(olga, name="Import", scopes=["trips:read"]) for _number in range(2)
    )
    page = admin_client.page(token).content.decode()
    assert token.hint in page
    for secret in (token.token, token.digest, token.password_fingerprint):
        assert secret not in page
    admin_client.act("end", token)
    assert list(ScopedToken.objects.active()) == [other]


@pytest.mark.slow
def test_no_page_asks_the_database_more_often_when_there_is_more_to_show(
    admin_client, fill, trip, olga
):
    def queries():
        pages = {
            model.__name__: admin_client.url(model, "changelist") for model in admin.site._registry
        }
        for model in admin.site._registry:
            row = trip if model is Trip else olga if model is User else row_of(model)
            url = admin_client.url(model, "change", row.pk)
            pages |= {
                f"one {model.__name__}": url,
                f"log of {model.__name__}": admin_client.url(model, "history", row.pk),
            }
        pages |= {
            "the dashboard": "/admin/",
            "the audit": admin_client.url(Trip, "audit", trip.pk),
            "deleting the trip": admin_client.url(Trip, "delete", trip.pk),
            "deleting the account": admin_client.url(User, "delete", olga.pk),
            "the choice of a user": "/admin/autocomplete/?app_label=trips&model_name=member"
            "&field_name=user&term=example",
        }
        counts = {}
        for name, url in pages.items():
            with CaptureQueriesContext(connection) as context:
                assert admin_client.client.get(url).status_code == 200
            counts[name] = len(context)
        return counts

    def filled(rows):
        fill(rows)
        queries()  # the first time fills caches
        return queries()

    at_10 = filled(10)
    assert filled(120) == at_10
    assert max(at_10.values()) < 40, at_10
