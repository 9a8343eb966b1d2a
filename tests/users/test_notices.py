"""Notices by mail: who gets them about what, how many, and how to get no more of them."""

import re
from collections.abc import Callable
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

import pytest
import time_machine
from django.core import mail as sent_mails
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.conftest import Api
from tests.document import problem_of
from tests.factories import UserFactory, join, overwrite, spend
from tests.server import free_port
from tests.splits.ledger import Ledger
from tripcompanion.accounts.deletion import delete_account
from trips.models import Member, Trip
from users.models import Mail, User
from users.models.notices import MAX_WAITING, PAUSE

ALL = ["member.added", "split.paid", "expense.created", "expense.changed", "comment.created"]


def wanting(user: User, mode: str = "each", events: str = " ".join(ALL)) -> User:
    """`user` with a confirmed address, and notices on."""
    overwrite(user, email_verified_at=timezone.now(), notice_mode=mode, notice_events=events)
    return user


@pytest.fixture
def ledger(trip: Trip, api: Api, olga: User) -> Ledger:
    return Ledger(trip, api, olga)


@pytest.fixture
def delivered(settings: Any) -> Callable[[], list[Any]]:
    """`delivered()` sends what is due, and gives the mails of this run."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.EMAIL_URL = {"EMAIL_PORT": 25}

    def send() -> list[Any]:
        before = len(sent_mails.outbox)
        call_command("send_mail_queue")
        return sent_mails.outbox[before:]

    return send


def waiting(user: User) -> list[str]:
    return list(Mail.objects.filter(user=user).order_by("id").values_list("letter", flat=True))


# -- The setting -----------------------------------------------------------------------------------


def test_they_are_off_until_the_account_wants_them(api: Api, olga: User) -> None:
    client = api(olga)
    assert client.get("/api/users/me").json()["notices"] == {"email": "off", "events": ALL}
    profile = f"/api/users/{olga.pk}/profile"
    changed = client.put(profile, {"notices": {"email": "daily", "events": ["split.paid"]}})
    assert changed.json()["notices"] == {"email": "daily", "events": ["split.paid"]}
    # What is not sent stays.
    client.put(profile, {"notices": {"email": "each"}})
    client.put(profile, {"name": "Olga"})
    assert client.get("/api/users/me").json()["notices"] == {
        "email": "each",
        "events": ["split.paid"],
    }


def test_others_do_not_see_it(api: Api, trip: Trip, olga: User, ed: User) -> None:
    assert api(ed).get(f"/api/users/{olga.pk}").json()["notices"] is None


@pytest.mark.parametrize(
    "notices",
    [
        {"email": "hourly"},
        {"events": ["split.paid"]},
        {"email": "each", "events": ["trip.deleted"]},
        {"email": "each", "events": "split.paid"},
        {"email": "each", "events": []},
        {"email": "each", "events": ALL * 2},
        "each",
        [],
    ],
)
def test_what_is_no_setting_is_refused(api: Api, olga: User, notices: Any) -> None:
    response = api(olga).put(f"/api/users/{olga.pk}/profile", {"notices": notices})
    assert "notices" in str(problem_of(response, 400)["errors"])
    olga.refresh_from_db()
    assert olga.notice_mode == "off"


# -- What is reported, and to whom -----------------------------------------------------------------


def test_each_event_notifies_those_whom_it_concerns_but_not_who_did_it(
    ledger: Ledger, olga: User, ed: User, vera: User
) -> None:
    for user in (olga, ed, vera):
        wanting(user)
    expense = ledger.spend(olga, 60, olga, ed)
    assert (waiting(olga), waiting(ed), waiting(vera)) == ([], ["EXPENSE_CREATED"], [])
    ledger.change(expense, olga, participantUserIds=[olga.pk, vera.pk])
    # Ed was in it before.
    assert waiting(ed) == ["EXPENSE_CREATED", "EXPENSE_CHANGED"]
    assert waiting(vera) == ["EXPENSE_CHANGED"]
    ledger.pay(ledger.split(expense, vera), by=olga)
    assert waiting(vera) == ["EXPENSE_CHANGED", "SPLIT_PAID"]
    ledger.comment(expense, ed)
    assert waiting(vera)[-1] == "COMMENT_CREATED"
    assert waiting(olga) == ["COMMENT_CREATED"]
    assert waiting(ed) == ["EXPENSE_CREATED", "EXPENSE_CHANGED"]


def test_who_pays_their_own_split_is_not_told(ledger: Ledger, olga: User, ed: User) -> None:
    wanting(ed)
    expense = ledger.spend(olga, 60, olga, ed)
    ledger.pay(ledger.split(expense, ed), by=ed)
    assert waiting(ed) == ["EXPENSE_CREATED"]


def test_a_split_that_is_added_or_deleted_changes_the_expense(
    ledger: Ledger, olga: User, ed: User
) -> None:
    expense = ledger.spend(olga, 60, olga, ed)
    wanting(ed)
    ledger.delete_split(ledger.split(expense, ed), olga)
    assert waiting(ed) == ["EXPENSE_CHANGED"]
    Mail.objects.all().delete()
    ledger.add_split(expense, olga, ed, amount=5)
    assert waiting(ed) == ["EXPENSE_CHANGED"]


def test_who_is_added_to_a_trip_is_told_but_not_who_joins_it(
    api: Api, trip: Trip, olga: User, sam: User
) -> None:
    nina = wanting(UserFactory())
    wanting(sam)
    api(olga).post(f"/api/trips/{trip.pk}/members", {"userId": sam.pk})
    api(nina).post("/api/trips/join", {"tripCode": trip.code})
    assert (waiting(sam), waiting(nina)) == (["MEMBER_ADDED"], [])


def test_nobody_is_told_who_does_not_want_it_or_may_not_get_mail(
    ledger: Ledger, trip: Trip, olga: User, ed: User, vera: User
) -> None:
    off, unconfirmed, inactive, other = UserFactory.create_batch(4)
    for user in (off, unconfirmed, inactive, other):
        join(trip, user)
    wanting(off, mode="off")
    overwrite(wanting(unconfirmed), email_verified_at=None)
    overwrite(wanting(inactive), is_active=False)
    wanting(other, events="member.added comment.created")
    expense = ledger.spend(olga, 60, off, unconfirmed, inactive, other)
    ledger.change(expense, olga, amount=80)
    for user in (off, unconfirmed, inactive, other):
        assert waiting(user) == []


def test_who_left_the_trip_is_not_told(ledger: Ledger, olga: User, vera: User) -> None:
    wanting(vera)
    expense = ledger.spend(olga, 60, olga, vera)
    ledger.pay(ledger.split(expense, vera), by=vera)
    Mail.objects.all().delete()
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    ledger.comment(expense, olga)
    ledger.change(expense, olga, notes="Nice.")
    assert waiting(vera) == []


def test_a_command_that_fails_tells_nobody(ledger: Ledger, olga: User, ed: User) -> None:
    wanting(ed)
    body = ledger.expense_body(60, olga, ed, payers=[{"userId": olga.pk, "amount": 1}])
    assert ledger.answer(olga, "post", "expenses", body).status_code == 400
    assert not Mail.objects.exists()


# -- How much there may be -------------------------------------------------------------------------


def test_the_same_notice_waits_once_and_their_number_is_limited(
    ledger: Ledger, trip: Trip, olga: User, ed: User
) -> None:
    wanting(ed, mode="daily")
    expense = ledger.spend(olga, 60, olga, ed)
    for amount in (70, 80, 90):
        ledger.change(expense, olga, amount=amount)
    assert waiting(ed) == ["EXPENSE_CREATED", "EXPENSE_CHANGED"]
    for _number in range(MAX_WAITING):
        spend(trip, 1000, paid_by=olga, among=[ed])
    assert len(waiting(ed)) == MAX_WAITING


def test_between_two_mails_there_is_a_pause(
    ledger: Ledger, olga: User, ed: User, delivered: Callable[[], list[EmailMessage]]
) -> None:
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


def test_a_digest_comes_once_a_day(
    ledger: Ledger, olga: User, ed: User, delivered: Callable[[], list[EmailMessage]]
) -> None:
    wanting(ed, mode="daily")
    with time_machine.travel("2026-05-14T09:00:00Z") as clock:
        expense = ledger.spend(olga, 60, olga, ed)
        clock.shift(timedelta(hours=2))
        ledger.comment(expense, olga)
        assert delivered() == []
        clock.move_to("2026-05-14T16:01:00Z")
        [message] = delivered()
        assert message.to == ["ed@example.com"]
        assert "was recorded" in message.body
        assert "new comment" in message.body
        ledger.comment(expense, olga)
        clock.move_to("2026-05-15T15:59:00Z")
        assert delivered() == []
        clock.move_to("2026-05-15T16:01:00Z")
        assert len(delivered()) == 1


@pytest.mark.parametrize("people", [1, 8])
def test_notifying_one_or_many_takes_the_same_statements_and_nobody_none(
    api: Api, trip: Trip, olga: User, people: int
) -> None:
    users = UserFactory.create_batch(people)
    for user in users:
        join(trip, user)
    client, body = api(olga), Ledger.expense_body(62.53, *users)

    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.post(f"/api/trips/{trip.pk}/expenses", body).status_code == 201
        assert not [q for q in captured if "users_mail" in q["sql"]] or Mail.objects.exists()
        return len(captured)

    statements()
    quiet = statements()
    for user in users:
        wanting(user)
    assert statements() == quiet + 2
    assert Mail.objects.count() == people


def test_paying_takes_no_statement_more_if_notices_are_off(
    api: Api, trip: Trip, olga: User, ed: User
) -> None:
    client = api(olga)

    def statements() -> int:
        expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
        split = expense.splits.get(participant=ed)
        with CaptureQueriesContext(connection) as captured:
            path = f"/api/expenses/{expense.pk}/splits/{split.pk}/pay"
            assert client.put(path).status_code == 200
        return len(captured)

    statements()
    quiet = statements()
    wanting(ed)
    assert statements() == quiet + 2


# -- The mail --------------------------------------------------------------------------------------


def test_a_mail_has_links_and_nothing_that_a_user_typed(
    ledger: Ledger,
    trip: Trip,
    olga: User,
    ed: User,
    settings: Any,
    delivered: Callable[[], list[EmailMessage]],
) -> None:
    settings.FRONTEND_URL = "https://app.example.com"
    wanting(ed)
    expense = ledger.spend(olga, 60, olga, ed, description="evil.example", notes="evil.example")
    ledger.comment(expense, olga, "Open https://evil.example now")
    [message] = delivered()
    assert message.subject == "News from your trips"
    page = f"https://app.example.com/trips/{trip.pk}/expenses/{expense['id']}"
    assert message.body.count(page) == 2
    for typed in ("evil", trip.title, olga.name, ed.name):
        assert typed not in message.body + message.subject


def test_a_mail_is_in_the_language_in_which_notices_were_turned_on(
    api: Api, ledger: Ledger, olga: User, ed: User, delivered: Callable[[], list[EmailMessage]]
) -> None:
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
def test_who_wants_none_when_it_is_sent_gets_none(
    ledger: Ledger,
    olga: User,
    ed: User,
    vera: User,
    change: str,
    delivered: Callable[[], list[EmailMessage]],
) -> None:
    wanting(vera)
    ledger.comment(ledger.spend(olga, 60, olga, vera), olga)
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


def test_what_is_deleted_is_not_reported(
    ledger: Ledger, olga: User, ed: User, delivered: Callable[[], list[EmailMessage]]
) -> None:
    wanting(ed)
    expense, other = ledger.spend(olga, 60, olga, ed), ledger.spend(olga, 60, olga, ed)
    ledger.delete(expense, olga)
    [message] = delivered()
    assert f"/expenses/{other['id']}" in message.body
    assert f"/expenses/{expense['id']}\n" not in message.body


def test_a_mail_that_could_not_be_sent_is_tried_again(
    ledger: Ledger, olga: User, ed: User, settings: Any, delivered: Callable[[], list[Any]]
) -> None:
    wanting(ed)
    with time_machine.travel(timezone.now()) as clock:
        expense = ledger.spend(olga, 60, olga, ed)
        ledger.comment(expense, olga)
        locmem = settings.EMAIL_BACKEND
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
        with pytest.raises(Exception, match="0 mails sent, 2 waiting"):
            delivered()
        settings.EMAIL_BACKEND = locmem
        clock.shift(timedelta(minutes=11))
        [message] = delivered()
    assert "was recorded" in message.body
    assert "new comment" in message.body


# -- No more of them -------------------------------------------------------------------------------


@pytest.fixture
def link(
    ledger: Ledger, olga: User, ed: User, settings: Any, delivered: Callable[[], list[Any]]
) -> str:
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


def mode_of(user: User) -> str:
    user.refresh_from_db()
    return user.notice_mode


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "multipart"])
def test_one_click_unsubscribes_without_a_log_in_once_and_again(
    link: str, ledger: Ledger, olga: User, ed: User, content_type: str
) -> None:
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


def test_opening_the_link_only_asks(link: str, ed: User) -> None:
    client = Client()
    for method in (client.get, client.head):
        response = method(link)
        assert response.status_code == 200
        assert mode_of(ed) == "each"
    page = client.get(link, headers={"Accept-Language": "es"}).content.decode()
    assert '<form method="post">' in page
    assert '<html lang="es">' in page
    assert "<script" not in page
    assert ed.email not in page


def test_a_token_is_of_one_account_and_address_and_cannot_be_made_up(
    link: str, ed: User, olga: User
) -> None:
    client = Client()
    for token in ("", "x", link.partition("=")[2][:-1], "%00", "WzEsICJ4Il0:x:y"):
        problem_of(client.post(f"/unsubscribe?token={token}"), 404 if token != "%00" else 400)
    assert mode_of(ed) == "each"
    overwrite(ed, email_key="another@example.com")
    problem_of(client.post(link), 404)
    assert mode_of(ed) == "each"
    problem_of(client.put(link), 405)
