"""Wrong passwords are limited per account over all clients, and nobody is locked out by them."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from tests.factories import overwrite
from tests.users.logins import log_in, try_to_log_in
from users.mail_templates import MailTemplate
from users.models import Mail, Session

NOON = datetime(2026, 5, 14, 12, 0, 20, tzinfo=UTC)
HOME, CAFE = "203.0.113.7", "198.51.100.9"


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def guess(email, times):
    """Wrong passwords, each from another address."""
    return {
        try_to_log_in(email, "wrong-one", REMOTE_ADDR=f"192.0.2.{at}").status_code
        for at in range(times)
    }


def test_after_too_many_only_devices_that_logged_in_before_are_free(limits, olga, clock):
    limits(wrong_password="20/hour")
    overwrite(olga, email_verified_at=NOON)
    assert try_to_log_in(olga.email, REMOTE_ADDR=HOME).status_code == 200
    assert guess(olga.email, 20) == {401}
    [mail] = Mail.objects.all()
    assert (mail.letter, mail.address) == (MailTemplate.WRONG_PASSWORDS, olga.email)
    # One more try in 15 minutes, then none; the owner is told once.
    assert guess(olga.email, 2) == {401, 429}
    locked = try_to_log_in(olga.email, REMOTE_ADDR=CAFE)
    assert locked.status_code == 429
    assert int(locked["Retry-After"]) <= 15 * 60
    assert try_to_log_in(olga.email, REMOTE_ADDR=HOME).status_code == 200
    form = {"username": olga.email, "password": "wrong-one"}
    assert "Too many attempts" in Client().post("/admin/login/", form).content.decode()
    assert Mail.objects.count() == 1
    clock.shift(timedelta(minutes=15))
    assert try_to_log_in(olga.email, REMOTE_ADDR=CAFE).status_code == 200


def test_who_was_refused_has_a_turn_in_the_next_window_whoever_guesses_on(limits, olga, clock):
    limits(wrong_password="20/hour")
    guess(olga.email, 22)
    assert try_to_log_in(olga.email, REMOTE_ADDR=CAFE).status_code == 429
    clock.shift(timedelta(minutes=15))
    # A stranger takes the turn that everybody shares; new addresses get none.
    assert guess(olga.email, 2) == {401, 429}
    strangers = [f"192.0.3.{at}" for at in range(5)]
    for address in strangers:
        assert try_to_log_in(olga.email, "wrong-one", REMOTE_ADDR=address).status_code == 429
    assert try_to_log_in(olga.email, REMOTE_ADDR=CAFE).status_code == 200


def test_a_turn_is_one_attempt(limits, olga, clock):
    limits(wrong_password="20/hour")
    guess(olga.email, 22)
    assert try_to_log_in(olga.email, REMOTE_ADDR=CAFE).status_code == 429
    clock.shift(timedelta(minutes=15))
    guess(olga.email, 2)
    tries = [
        try_to_log_in(olga.email, "wrong-one", REMOTE_ADDR=CAFE).status_code for _try in range(2)
    ]
    assert tries == [401, 429]


def test_a_device_is_known_by_its_network_and_by_sessions_that_ended(limits, olga):
    limits(wrong_password="20/hour")
    assert try_to_log_in(olga.email, REMOTE_ADDR="2001:db8:1:2::7").status_code == 200
    Session.objects.all().end()
    guess(olga.email, 22)
    assert try_to_log_in(olga.email, REMOTE_ADDR="2001:db8:1:2:ffff::1").status_code == 200
    assert try_to_log_in(olga.email, REMOTE_ADDR="2001:db8:1:3::7").status_code == 429


def test_an_address_without_an_account_answers_alike(limits, olga):
    limits(wrong_password="20/hour")
    assert guess("nobody@example.com", 22) == guess(olga.email, 22) == {401, 429}


def test_wrong_passwords_of_a_session_count_too(limits, olga):
    limits(wrong_password="3/hour")
    client = Client(headers={"Authorization": f"Bearer {log_in(olga)['token']}"})
    path, body = "/api/users/me", {"password": "wrong-one"}
    for _try in range(3):
        assert client.delete(path, body, content_type="application/json").status_code == 400
    assert Mail.objects.filter(letter=MailTemplate.WRONG_PASSWORDS).count() == 1
    assert try_to_log_in(olga.email, "wrong-one", REMOTE_ADDR=CAFE).status_code == 401
    assert try_to_log_in(olga.email, REMOTE_ADDR=CAFE).status_code == 429
