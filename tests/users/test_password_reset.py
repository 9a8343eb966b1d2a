"""A lost password: a link by mail that works once, and an answer that tells nothing."""

import secrets
from collections import Counter
from datetime import timedelta

import httpx
import pytest
import time_machine
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory
from tests.mailserver import mail_server, token_in
from tests.splits.journey import answers_at_once
from tests.users.logins import is_alive, log_in, refresh, try_to_log_in
from tripcompanion.mail.sending import deliver
from trips.deletion import delete_account
from users.mail_templates import MailTemplate
from users.models import EmailToken, Mail, User

pytestmark = pytest.mark.either

NEW = "five-yellow-umbrellas"


def ask(email, **headers):
    return APIClient().post("/api/users/password-reset", {"email": email}, **headers)


def confirm(token, password=NEW, **headers):
    body = {"token": token, "newPassword": password}
    return APIClient().post("/api/users/password-reset/confirm", body, **headers)


def mail_to(*emails):
    """The mails to `emails`, by default to anybody, that go out now."""
    mail.outbox.clear()
    deliver()
    return [message for message in mail.outbox if not emails or message.to[0] in emails]


def token_for(email):
    """Ask for a link, and read the mail."""
    assert ask(email).status_code == 202
    return token_in(mail_to(email)[0].body)


def assert_dead(response):
    document = problem_of(response, 400, "link_invalid")
    assert document["errors"] == {"token": [document["detail"]]}


def test_a_lost_password_is_set_anew_and_every_log_in_ends(olga):
    pairs = [log_in(olga), log_in(olga)]
    response = ask("olga@example.com")
    assert (response.status_code, response.content) == (202, b"")
    [letter] = mail_to("olga@example.com")
    assert letter.subject == "Reset your Trip Companion password"
    assert "http://localhost:4200/reset-password?token=" in letter.body
    response = confirm(token_in(letter.body))
    assert (response.status_code, response.content) == (204, b"")
    assert not any(is_alive(pair["token"]) for pair in pairs)
    assert {refresh(pair["refreshToken"]).status_code for pair in pairs} == {401}
    assert try_to_log_in("olga@example.com", NEW).status_code == 200
    assert try_to_log_in("olga@example.com", PASSWORD).status_code == 401


def test_the_mail_and_the_page_are_in_the_language_that_was_asked_in(olga, settings):
    settings.FRONTEND_URL = "https://app.example.com"
    ask("olga@example.com", HTTP_ACCEPT_LANGUAGE="es")
    [letter] = mail_to("olga@example.com")
    assert letter.subject == "Restablece tu contraseña de Trip Companion"
    assert "https://app.example.com/reset-password?token=" in letter.body


def test_no_name_and_nothing_else_that_somebody_typed_is_in_the_mail(olga):
    User.objects.update(name="Win at https://evil.example")
    ask("OLGA@example.com")
    [letter] = mail_to("olga@example.com")
    assert "evil" not in str(letter.message())
    assert "OLGA" not in str(letter.message())


def test_an_address_is_found_in_any_spelling_and_the_mail_goes_to_the_stored_one(olga):
    assert try_to_log_in("olga@example.com").status_code == 200
    ask(" Olga@EXAMPLE.com ")
    assert mail_to("olga@example.com")


def test_an_unknown_address_gets_the_same_answer_and_no_mail(olga):
    known, unknown = ask("olga@example.com"), ask("nobody@example.com")
    for response in (known, unknown):
        response.headers.pop("X-Request-Id", None)
    assert known.status_code == unknown.status_code == 202
    assert known.content == unknown.content == b""
    assert dict(known.items()) == dict(unknown.items())
    assert [message.to for message in mail_to()] == [["olga@example.com"]]
    assert not Mail.objects.exists()


def test_nobody_is_looked_up_while_the_answer_is_made(olga):
    """So the time of the answer has nothing to tell: each is the same single INSERT."""
    done = []
    for email in ("olga@example.com", "no.one@example.com"):
        with CaptureQueriesContext(connection) as captured:
            ask(email)
        done.append([query["sql"].partition(" VALUES")[0] for query in captured])
    assert done[0] == done[1]
    [insert] = done[0]
    assert insert.startswith('INSERT INTO "users_mail"')


def test_a_link_works_once(olga):
    token = token_for("olga@example.com")
    assert confirm(token).status_code == 204
    assert_dead(confirm(token, PASSWORD))
    assert try_to_log_in("olga@example.com", NEW).status_code == 200


@pytest.mark.slow
def test_a_link_used_by_twenty_at_once_works_for_one(server):
    email = f"{secrets.token_hex(8)}@example.com"
    with httpx.Client(base_url=server.url, timeout=60) as http, mail_server() as post:
        http.post("/api/users/register", json={"email": email, "password": PASSWORD})
        http.post("/api/users/password-reset", json={"email": email})
        server.manage("send_mail_queue", EMAIL_URL=post.url)
        [message] = [
            m for m in post.received if m["To"] == email and "/reset-password" in m.get_content()
        ]
        token = token_in(message.get_content())
        passwords = [f"{NEW}-{at}" for at in range(20)]
        answers = answers_at_once(
            [
                lambda p=password: http.post(
                    "/api/users/password-reset/confirm", json={"token": token, "newPassword": p}
                )
                for password in passwords
            ]
        )
        assert Counter(answer.status_code for answer in answers) == {204: 1, 400: 19}
        good = [
            http.post("/api/users/login", json={"email": email, "password": password}).status_code
            for password in passwords
        ]
        assert Counter(good) == {200: 1, 401: 19}
        assert [answer.status_code for answer in answers].index(204) == good.index(200)


def test_a_link_is_good_for_an_hour(olga):
    tokens = [token_for("olga@example.com") for _link in range(2)]
    sent = timezone.now()
    with time_machine.travel(sent + timedelta(minutes=59, seconds=50), tick=False):
        assert confirm(tokens[0]).status_code == 204
    fresh = token_for("olga@example.com")
    with time_machine.travel(timezone.now() + timedelta(hours=1, seconds=1), tick=False):
        assert_dead(confirm(fresh))


def test_a_newer_link_does_not_kill_the_older_but_its_use_does(olga):
    first, second, third = (token_for("olga@example.com") for _link in range(3))
    assert confirm(first).status_code == 204
    assert_dead(confirm(second, "six-purple-umbrellas"))
    assert_dead(confirm(third, NEW))


def test_a_reset_to_the_old_password_ends_the_log_ins_and_the_other_links_too(olga):
    pair = log_in(olga)
    first, second = (token_for("olga@example.com") for _link in range(2))
    assert confirm(first, PASSWORD).status_code == 204
    assert not is_alive(pair["token"])
    assert refresh(pair["refreshToken"]).status_code == 401
    assert_dead(confirm(second, NEW))


@pytest.mark.parametrize(
    "change",
    [
        {"currentPassword": PASSWORD, "newPassword": "six-purple-umbrellas"},
        {"email": "olga@example.org"},
    ],
    ids=["password", "email"],
)
def test_a_link_dies_with_the_password_and_the_address_that_it_was_made_for(api, olga, change):
    token = token_for("olga@example.com")
    assert api(olga).put(f"/api/users/{olga.pk}/profile", change).status_code == 200
    assert_dead(confirm(token))


def test_a_link_does_not_open_an_account_that_is_barred_or_deleted(olga, ed):
    tokens = [token_for("olga@example.com"), token_for("ed@example.com")]
    olga.deactivate(by=None)
    delete_account(ed, by=None)
    for token in tokens:
        assert_dead(confirm(token))
    olga.refresh_from_db()
    assert not olga.is_active


def test_barred_and_deleted_accounts_get_no_mail(olga, ed):
    olga.deactivate(by=None)
    delete_account(ed, by=None)
    ask("olga@example.com")
    ask("ed@example.com")
    assert mail_to() == []


def test_a_link_that_confirms_an_address_sets_no_password(olga):
    assert_dead(confirm(EmailToken.make(olga, MailTemplate.VERIFY)))


@pytest.mark.parametrize("password", ["", "seven77", "password123", "x" * 129, None, 1234567890])
def test_a_password_that_is_refused_leaves_the_link_good(olga, password):
    token = token_for("olga@example.com")
    assert list(confirm(token, password).json()["errors"]) == ["newPassword"]
    assert confirm(token).status_code == 204


def test_only_a_hash_of_the_token_is_stored(olga):
    token = token_for("olga@example.com")
    assert not Mail.objects.exists()
    assert all(token not in str(row) for row in EmailToken.objects.values())


def test_a_reset_confirms_the_address_and_is_told_by_mail(olga):
    confirm(token_for("olga@example.com"))
    olga.refresh_from_db()
    assert olga.email_verified_at is not None
    [letter] = mail_to("olga@example.com")
    assert letter.subject == "Your password was changed"


def test_requests_are_limited_per_account_known_or_not(limits, olga):
    limits(mail="2/hour")
    for email in ("olga@example.com", "nobody@example.com"):
        spellings = [email, email.upper(), f" {email} "]
        answers = [
            ask(spelling, REMOTE_ADDR=f"192.0.2.{at}") for at, spelling in enumerate(spellings)
        ]
        assert [answer.status_code for answer in answers] == [202, 202, 429]
        assert int(answers[2]["Retry-After"]) >= 1
    assert Mail.objects.count() == 4


def test_requests_are_limited_per_address_of_the_client(limits, db):
    limits(mail="3/hour")
    emails = [UserFactory.build().email for _account in range(4)]
    assert [ask(email).status_code for email in emails] == [202, 202, 202, 429]
    assert ask(emails[3], REMOTE_ADDR="192.0.2.9").status_code == 202
