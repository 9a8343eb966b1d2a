"""What an operator does in the admin site: look at the figures, help people, delete a trip."""

import re
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
import time_machine
from django.contrib.admin.models import DELETION, LogEntry
from django.core import mail as mailbox
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from splits.models import AuditRun, Expense
from splits.models.audit_run import KEPT_RUNS
from tests.admin_client import tables, text, told
from tests.factories import UserFactory, overwrite, owned_trip, settle, spend
from tests.users.logins import is_alive, log_in
from tripcompanion.adminsite.base import page_url
from tripcompanion.mail.sending import deliver
from trips.models import Member, Trip
from users.mail_templates import MailTemplate
from users.models import Mail, Role, ScopedToken, Session, User

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


# -- The dashboard ---------------------------------------------------------------------------------


def figures(page):
    """The figures of the first page, by label."""
    found = {}
    for label, values in re.findall(r"<dt>(.*?)</dt>(.*?)</div>", text(page), re.S):
        texts = re.findall(r"<dd.*?>(.*?)</dd>", values, re.S)
        found[label] = [re.sub(r"<[^>]+>", "", value) for value in texts]
    return found


def bars(page):
    """The chart: width and amount of the bar of each month with an amount, by currency."""
    row = r'<th scope="row">(.*?)</th>.*?<rect width="(\d+)".*?<td class="amount">(.*?)</td>'
    charts = r"<caption>(\w+)</caption>(.*?)</table>"
    return {
        currency: {
            month: (int(width), amount)
            for month, width, amount in re.findall(row, table, re.S)
            if width != "0"
        }
        for currency, table in re.findall(charts, text(page), re.S)
    }


@time_machine.travel(datetime(2026, 11, 22, 12, tzinfo=UTC), tick=False)
def test_the_first_page_shows_what_an_operator_asks_first(admin_client, trip, olga):
    overwrite(olga, created_at=timezone.now() - timedelta(days=20))
    overwrite(UserFactory(), created_at=timezone.now() - timedelta(days=40))
    for given_up_at in (None, timezone.now()):
        Mail.objects.create(letter=MailTemplate.RESET, address=olga.email, given_up_at=given_up_at)
    recorded_at = [(11, 1, 100_000), (11, 22, 20_000), (6, 30, 60_000), (1, 1, 1)]
    for month, day, amount_minor in recorded_at:
        expense = spend(trip, amount_minor, paid_by=olga, among=[olga])
        at = datetime(2026, month, day, 0 if day == 1 else 23, tzinfo=UTC)
        Expense.objects.filter(pk=expense.pk).update(created_at=at)
    old = spend(trip, 7, paid_by=olga, among=[olga])
    Expense.objects.filter(pk=old.pk).update(created_at=datetime(2025, 11, 30, 23, tzinfo=UTC))
    page = admin_client.client.get("/admin/")
    assert figures(page) == {
        "New accounts": ["3 last 7 days", "4 last 30 days"],
        "Trips with new expenses": ["1 last 7 days", "1 last 30 days"],
        "Mails that were not sent": ["1 given up", "1 waiting"],
        "Last audit of the ledger": ["never; run manage.py audit_ledger"],
    }
    assert bars(page) == {
        "EUR": {
            "Nov 2026": (100, "1,200.00 EUR"),
            "Jun 2026": (50, "600.00 EUR"),
            "Jan 2026": (1, "0.01 EUR"),
        }
    }


def test_the_figures_lead_to_their_rows(admin_client, trip, olga):
    spend(trip, 100, paid_by=olga, among=[olga])
    AuditRun.record(timezone.now(), 1, [])
    page = admin_client.client.get("/admin/").content.decode()
    links = re.findall(r'<dd[^>]*><a href="([^"]+)">(\d[^<]*)</a>', page)
    assert len(links) == 7
    for url, number in links:
        shown = admin_client.client.get(url.replace("&amp;", "&"))
        assert shown.status_code == 200
        if "cl" in shown.context:
            assert shown.context["cl"].result_count == int(number)


def test_the_largest_amounts_are_summed_exactly(admin_client, trip, olga):
    for _number in range(3):
        spend(trip, 100, paid_by=olga, among=[olga])
    Expense.objects.update(entered_minor=2**63 - 1)
    [bar] = bars(admin_client.client.get("/admin/"))["EUR"].values()
    assert bar == (100, "276,701,161,105,643,274.21 EUR")


def test_the_first_page_reads_indexes_where_rows_are_many(admin_client, trip):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL reads small tables as a whole, SQLite plans by the indexes alone")
    with CaptureQueriesContext(connection) as captured:
        admin_client.client.get("/admin/")
    plans = []
    with connection.cursor() as cursor:
        for query in captured.captured_queries:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plans += [row[3] for row in cursor.fetchall()]
    for table, index in {
        "splits_expense": "expense_sums_by_day",
        "users_user": "account_by_creation",
        "trips_trip": "trip_by_last_expense",
    }.items():
        read = [plan for plan in plans if table in plan and "PRIMARY KEY" not in plan]
        assert read
        assert {plan.partition(" (")[0] for plan in read} == {
            f"SEARCH {table} USING COVERING INDEX {index}"
        }


def test_an_audit_is_kept_with_its_result_and_old_ones_go(admin_client, trip, olga, ed):
    for _number in range(KEPT_RUNS):
        AuditRun.record(timezone.now(), 0, [])
    spend(trip, 1000, paid_by=olga, among=[ed])
    call_command("audit_ledger", stdout=StringIO())
    assert figures(admin_client.client.get("/admin/"))["Last audit of the ledger"][0].endswith(
        "differences: 0"
    )
    Member.objects.filter(user=ed).update(share_minor=1)
    with pytest.raises(CommandError):
        call_command("audit_ledger", stderr=StringIO())
    with pytest.raises(CommandError):
        call_command("audit_ledger", trip=trip.pk, stderr=StringIO())
    assert AuditRun.objects.count() == KEPT_RUNS
    run = AuditRun.objects.latest("pk")
    assert (run.trip_count, run.difference_count) == (1, 3)
    page = admin_client.client.get("/admin/")
    assert figures(page)["Last audit of the ledger"][0].endswith("differences: 3")
    assert 'class="bad"' in page.content.decode()
    assert "share_minor is 1, it should be 1000" in text(admin_client.page(run))


# -- Helping people --------------------------------------------------------------------------------


def test_a_reset_link_is_sent(admin_client, olga):
    assert told(admin_client.press("send_reset_links", olga)) == ["Reset links on their way: 1."]
    deliver()
    [letter] = mailbox.outbox
    assert letter.to == [olga.email]
    assert "/reset-password?token=" in letter.body


def test_an_address_is_confirmed(admin_client, olga):
    assert told(admin_client.press("confirm_addresses", olga)) == ["Addresses confirmed: 1."]
    olga.refresh_from_db()
    assert olga.email_verified_at
    assert "confirm_addresses/" not in admin_client.page(olga).content.decode()


def test_all_sessions_of_an_account_are_ended(admin_client, olga):
    token, browser = log_in(olga)["token"], Client()
    browser.force_login(olga)
    assert told(admin_client.press("log_out", olga)) == ["Accounts logged out: 1."]
    assert not is_alive(token)
    assert browser.get("/api/users/me").status_code == 401


def test_a_mail_that_was_given_up_is_sent_again(admin_client, olga):
    long_ago = timezone.now() - timedelta(days=9)
    fields = {"letter": MailTemplate.PASSWORD_CHANGED, "address": olga.email, "user": olga}
    mail = Mail.objects.create(created_at=long_ago, given_up_at=long_ago, attempts=50, **fields)
    waiting = Mail.objects.create(due_at=timezone.now() + timedelta(hours=1), **fields)
    assert told(admin_client.act("retry", mail, waiting)) == ["Mails queued again: 1."]
    assert deliver().sent == 1
    assert list(Mail.objects.all()) == [waiting]
    assert f"{waiting.pk}/act/" not in admin_client.page(waiting).content.decode()
    assert admin_client.client.post(page_url(Mail, "act", waiting.pk, "retry")).status_code == 403


@pytest.mark.parametrize("kind", [Session, ScopedToken, Member, Trip])
def test_one_row_is_ended_from_its_page(admin_client, trip, ed, kind):
    code = trip.code
    row, button, message = {
        Session: lambda: (Session.start(ed), "end", "Sessions ended: 1."),
        ScopedToken: lambda: (
            ScopedToken.issue(ed, name="Import", scopes=["trips:read"]),
            "end",
            "Tokens revoked: 1.",
        ),
        Member: lambda: (trip.members.get(user=ed), "end", "Memberships ended: 1."),
        Trip: lambda: (trip, "renew_codes", "Codes renewed: 1."),
    }[kind]()
    assert told(admin_client.press(button, row)) == [message]
    assert LogEntry.objects.filter(object_id=str(row.pk)).count() == 1
    assert not Session.objects.active().exists()
    assert not ScopedToken.objects.exists()
    trip.refresh_from_db()
    assert (trip.code == code) == (kind is not Trip)


def test_a_button_refuses_what_its_action_refuses(admin_client, trip, olga):
    owner = trip.members.get(user=olga)
    refusal = "A trip needs an owner, and this member is the only one."
    assert told(admin_client.press("end", owner)) == [refusal]
    url = page_url(Member, "act", owner.pk, "delete_selected")
    assert admin_client.client.post(url).status_code == 403
    assert admin_client.client.post(page_url(Member, "act", 999, "end")).status_code == 404
    assert admin_client.client.get(page_url(Member, "act", owner.pk, "end")).status_code == 302
    assert trip.members.present().count() == 3


def test_a_button_needs_an_administrator(admin_client, olga, ada):
    url = page_url(User, "act", olga.pk, "log_out")
    overwrite(ada, role=Role.USER)
    assert admin_client.client.post(url).status_code == 302
    assert not LogEntry.objects.exists()


# -- Trips -----------------------------------------------------------------------------------------


def test_the_page_of_a_trip_shows_settlements_and_how_to_settle(admin_client, trip, olga, ed, vera):
    spend(trip, 900_000, paid_by=olga, among=[olga, ed, vera])
    settle(trip, ed, olga, 100_000)
    shown = tables(text(admin_client.page(trip)))
    assert shown["Settle-up plan:"] == [
        ["Ed Editor", "Olga Owner", "2,000.00 EUR"],
        ["Vera Viewer", "Olga Owner", "3,000.00 EUR"],
    ]
    assert [row[1:] for row in shown["Settlements:"]] == [
        ["Ed Editor", "Olga Owner", "1,000.00 EUR"]
    ]


def test_a_trip_is_audited(admin_client, trip, olga, ed):
    spend(trip, 1000, paid_by=olga, among=[ed])
    url = page_url(Trip, "audit", trip.pk)
    assert url in admin_client.page(trip).content.decode()
    assert "No difference was found." in text(admin_client.client.get(url))
    Member.objects.filter(user=ed).update(share_minor=1)
    page = text(admin_client.client.get(url))
    assert "No difference was found." not in page
    assert "share_minor is 1, it should be 1000" in page
    assert admin_client.client.get(page_url(Trip, "audit", 999)).status_code == 404


def test_a_trip_is_deleted_when_its_title_was_typed(admin_client, trip, olga, ed):
    spend(trip, 1000, paid_by=olga, among=[ed])
    other = owned_trip(olga, title="Other trip")
    url = page_url(Trip, "delete", trip.pk)
    page = admin_client.client.get(url)
    assert dict(page.context["model_count"]) == {"members": 3, "expenses": 1, "settlements": 0}
    for typed in ({}, {"title": "Other trip"}, {"title": ""}):
        page = admin_client.client.post(url, {"post": "yes", **typed}, follow=True)
        assert told(page) == ["Type the title exactly as it is."]
    assert Trip.objects.count() == 2
    page = admin_client.client.post(url, {"post": "yes", "title": trip.title}, follow=True)
    assert [str(message) for message in told(page)] == [
        f"The trip “{trip.title}” was deleted successfully."
    ]
    assert list(Trip.objects.filter(deleted_at=None)) == [other]
    entry = LogEntry.objects.get()
    assert (entry.action_flag, entry.object_repr) == (DELETION, trip.title)
    assert "delete_selected" not in admin_client.list(Trip).content.decode()


# -- The log ---------------------------------------------------------------------------------------


def test_the_log_lists_what_administrators_did_without_names(admin_client, trip, ada, olga, ed):
    admin_client.change(trip, destination="Porto", budget="7")
    admin_client.change(olga, name="Olga New", email="new@example.com")
    admin_client.act("log_out", olga, ed)
    admin_client.delete(olga)  # refused: the only owner
    rows = admin_client.list(LogEntry).context["cl"].result_list
    assert [(row.object_repr, row.get_change_message()) for row in rows] == [
        (f"#{ed.pk}", "All sessions ended."),
        (f"#{olga.pk}", "All sessions ended."),
        (f"#{olga.pk}", "Changed email and name."),
        (trip.title, "Changed destination and budget."),
    ]
    assert {row.user for row in rows} == {ada}
    for query, count in (("action_flag__exact=2", 4), ("action_flag__exact=3", 0), ("q=ada", 4)):
        assert admin_client.list(LogEntry, query).context["cl"].result_count == count
    history = text(admin_client.client.get(page_url(User, "history", olga.pk)))
    assert "All sessions ended." in history


# -- Refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("accept", [BROWSER, {"Accept": "application/json"}, {}])
@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/admin/splits/rate/add/", {}, 403, "You do not have permission"),
        ("/admin/trips/trip/1/act/end/", {"csrfmiddlewaretoken": ""}, 403, "Please reload it."),
        ("/admin/nowhere/", {}, 404, "Not found."),
        ("/admin/?q=%00", {}, 400, "Contains a character that is not allowed"),
    ],
)
def test_a_browser_in_the_admin_site_gets_a_page_for_every_refusal(
    ada, path, body, status, says, accept
):
    client = Client(enforce_csrf_checks=True, headers=accept)
    client.force_login(ada)
    page = client.post(path, body) if body else client.get(path)
    assert page.status_code == status
    assert says in page.content.decode()
    kind = "text/html" if accept is BROWSER else "application/problem+json"
    assert page.headers["Content-Type"].startswith(kind)


def test_a_failure_is_a_page_too_and_the_api_keeps_its_documents(admin_client, api, olga):
    page = admin_client.client.post("/admin/", "x" * 2**21, "text/plain", headers=BROWSER)
    assert page.status_code == 413
    assert page.headers["Content-Type"].startswith("text/html")
    refused = api(olga).get("/api/nothing", headers=BROWSER)
    assert refused.headers["Content-Type"] == "application/problem+json"
