"""The mails with notices: when one is sent, to whom, what it says, and how it is turned off."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from plugins.notices.sending import PAUSE
from plugins.notices.tests.waiting import waiting, wanting
from tests.document import problem_of
from tests.factories import overwrite
from tests.server import free_port
from trips.deletion import delete_account
from trips.models import Member
from users.models import Mail

pytestmark = pytest.mark.either


def test_between_two_mails_there_is_a_pause(ledger, olga, ed, delivered):
    wanting(ed)
    with time_machine.travel(timezone.now()) as clock:
        ledger.spend(olga, 60, olga, ed)
        assert len(delivered()) == 1
        for _number in range(3):
            ledger.spend(olga, 60, olga, ed)
        assert delivered() == []
        assert len(waiting(ed)) == 3
        clock.shift(PAUSE + timedelta(seconds=1))
        [message] = delivered()
    assert message.body.count("was recorded") == 3
    assert waiting(ed) == []


def test_all_notices_of_an_account_are_postponed_at_once(ledger, olga, ed, delivered):
    """Otherwise the mails of others would wait for each of them."""
    wanting(ed)
    with time_machine.travel(timezone.now(), tick=False):
        ledger.spend(olga, 60, olga, ed)
        assert len(delivered()) == 1
        statements = []
        for many in (1, 10):
            Mail.objects.all().delete()
            for _number in range(many):
                ledger.spend(olga, 60, olga, ed)
            with CaptureQueriesContext(connection) as captured:
                assert delivered() == []
            statements.append(len(captured))
            assert not Mail.objects.due().exists()
    assert len(waiting(ed)) == 10
    assert statements[0] == statements[1]


def test_a_digest_comes_once_a_day(ledger, olga, ed, delivered):
    wanting(ed, mode="daily")
    with time_machine.travel("2026-05-14T09:00:00Z") as clock:
        expense = ledger.spend(olga, 60, olga, ed)
        clock.shift(timedelta(hours=2))
        ledger.change(expense, olga, notes="Nice.")
        assert delivered() == []
        clock.move_to("2026-05-14T16:01:00Z")
        [message] = delivered()
        assert message.to == ["ed@example.com"]
        assert "was recorded" in message.body
        assert "was changed" in message.body
        ledger.change(expense, olga, notes="Very nice.")
        clock.move_to("2026-05-15T15:59:00Z")
        assert delivered() == []
        clock.move_to("2026-05-15T16:01:00Z")
        assert len(delivered()) == 1


def test_a_mail_has_links_and_nothing_that_a_user_typed(
    ledger, trip, olga, ed, settings, delivered
):
    """T163: A mail with notices contains no text that a user typed."""
    settings.FRONTEND_URL = "https://app.example.com"
    wanting(ed)
    expense = ledger.spend(olga, 60, olga, ed, description="evil.example", notes="evil.example")
    ledger.change(expense, olga, notes="Open https://evil.example now")
    [message] = delivered()
    assert message.subject == "News from your trips"
    page = f"https://app.example.com/trips/{trip.pk}/expenses/{expense['id']}"
    assert message.body.count(page) == 2
    for typed in ("evil", trip.title, olga.name, ed.name):
        assert typed not in message.body + message.subject


def test_a_mail_is_in_the_language_in_which_notices_were_turned_on(
    api, ledger, olga, ed, delivered
):
    wanting(ed)
    api(ed).put(
        f"/api/users/{ed.pk}/profile",
        {"notices": {"email": "each"}},
        headers={"Accept-Language": "es"},
    )
    ledger.spend(olga, 60, olga, ed)
    [message] = delivered()
    assert message.subject == "Novedades de tus viajes"
    assert message.body.startswith("Hola:")


@pytest.mark.parametrize(
    "change", ["off", "unconfirmed", "deactivated", "deleted", "event", "left"]
)
def test_who_wants_none_when_it_is_sent_gets_none(ledger, olga, ed, vera, change, delivered):
    wanting(vera)
    ledger.spend(olga, 60, olga, vera)
    if change == "deleted":
        delete_account(vera, by=None)
    elif change == "left":
        Member.objects.filter(user=vera).update(left_at=timezone.now())
    else:
        columns: dict[str, dict[str, Any]] = {
            "off": {"notice_mode": "off"},
            "unconfirmed": {"email_verified_at": None},
            "deactivated": {"is_active": False},
            "event": {"notice_events": "split.paid"},
        }
        overwrite(vera, **columns[change])
    assert delivered() == []
    assert not Mail.objects.exists()


def test_what_is_deleted_is_not_reported(ledger, olga, ed, delivered):
    wanting(ed)
    expense, other = ledger.spend(olga, 60, olga, ed), ledger.spend(olga, 60, olga, ed)
    ledger.delete(expense, olga)
    [message] = delivered()
    assert f"/expenses/{other['id']}" in message.body
    assert f"/expenses/{expense['id']}\n" not in message.body


def test_a_mail_that_could_not_be_sent_is_tried_again(ledger, olga, ed, settings, delivered):
    wanting(ed)
    with time_machine.travel(timezone.now()) as clock:
        ledger.change(ledger.spend(olga, 60, olga, ed), olga, notes="Nice.")
        locmem = settings.EMAIL_BACKEND
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
        with pytest.raises(Exception, match="0 mails sent, 2 waiting"):
            delivered()
        settings.EMAIL_BACKEND = locmem
        clock.shift(timedelta(minutes=11))
        [message] = delivered()
    assert "was recorded" in message.body
    assert "was changed" in message.body


@pytest.fixture
def link(ledger, olga, ed, settings, delivered):
    """The link to unsubscribe in a mail to Ed."""
    settings.PUBLIC_URL = "https://api.example.com"
    wanting(ed)
    ledger.spend(olga, 60, olga, ed)
    [message] = delivered()
    headers = message.extra_headers
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    url = re.fullmatch(r"<(https://api\.example\.com/unsubscribe\?token=[\w:-]+)>",
                       headers["List-Unsubscribe"])[1]  # fmt: skip
    assert f"\n{url}\n" in message.body
    return url.removeprefix("https://api.example.com")


def mode_of(user):
    user.refresh_from_db()
    return user.notice_mode


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "multipart"])
def test_one_click_unsubscribes_without_a_log_in_once_and_again(
    link, ledger, olga, ed, content_type
):
    ledger.spend(olga, 60, olga, ed)
    client = Client(enforce_csrf_checks=True)
    for _time in range(2):
        if content_type == "multipart":
            response = client.post(link, {"List-Unsubscribe": "One-Click"})
        else:
            response = client.post(link, "List-Unsubscribe=One-Click", content_type)
        assert response.status_code == 200
        assert "no more of these" in response.content.decode()
        assert (mode_of(ed), waiting(ed)) == ("off", [])


def test_opening_the_link_only_asks(link, ed):
    client = Client()
    for method in (client.get, client.head):
        assert method(link).status_code == 200
        assert mode_of(ed) == "each"
    page = client.get(link, headers={"Accept-Language": "es"}).content.decode()
    assert '<form method="post">' in page
    assert '<html lang="es">' in page
    assert "<script" not in page
    assert ed.email not in page


def test_a_token_is_of_one_account_and_address_and_cannot_be_made_up(link, ed, olga):
    """T164: The link to unsubscribe works for one account, and only for that."""
    client = Client()
    for token in ("", "x", link.partition("=")[2][:-1], "%00", "WzEsICJ4Il0:x:y"):
        problem_of(client.post(f"/unsubscribe?token={token}"), 404 if token != "%00" else 400)
    assert mode_of(ed) == "each"
    overwrite(ed, email_key="another@example.com")
    problem_of(client.post(link), 404)
    assert mode_of(ed) == "each"
    problem_of(client.put(link), 405)


@pytest.mark.django_db
def test_the_form_of_a_stranger_is_short():
    refused = Client().post("/unsubscribe", {"List-Unsubscribe": "a" * 16 * 1024})
    assert problem_of(refused, 413)["detail"] == "The body is larger than 16384 bytes."
