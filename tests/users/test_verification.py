"""Confirming an e-mail address by a link that is sent there."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from rest_framework.test import APIClient

from tests.factories import PASSWORD
from tests.mailserver import token_in
from tests.users.test_password_reset import assert_dead, mail_to
from users.mail_templates import MailTemplate
from users.models import EmailToken, Mail, User

pytestmark = pytest.mark.either


def verify(token):
    return APIClient().post("/api/users/verify-email", {"token": token})


def ask_again(api, user):
    return api(user).post("/api/users/me/verify-email")


def change_email(api, user, email):
    response = api(user).put(f"/api/users/{user.pk}/profile", {"email": email})
    assert response.status_code == 200


def is_verified(user):
    user.refresh_from_db()
    return user.email_verified_at is not None


@pytest.mark.django_db
def test_a_registration_asks_and_the_link_confirms():
    body = {"email": "nina@example.com", "password": PASSWORD}
    assert APIClient().post("/api/users/register", body).status_code == 201
    nina = User.objects.get()
    assert not is_verified(nina)
    [letter] = mail_to("nina@example.com")
    assert letter.subject == "Please confirm your e-mail address"
    assert "http://localhost:4200/verify-email?token=" in letter.body
    response = verify(token_in(letter.body))
    assert (response.status_code, response.content) == (204, b"")
    assert is_verified(nina)


@pytest.mark.django_db
def test_a_registration_that_is_refused_sends_nothing(olga):
    body = {"email": "olga@example.com", "password": PASSWORD}
    assert APIClient().post("/api/users/register", body).status_code == 409
    assert not Mail.objects.exists()


def test_a_link_works_once_and_for_seven_days(olga):
    token, late = (
        EmailToken.make(olga, MailTemplate.VERIFY),
        EmailToken.make(olga, MailTemplate.VERIFY),
    )
    assert verify(token).status_code == 204
    assert_dead(verify(token))
    with time_machine.travel(timezone.now() + timedelta(days=7, seconds=1), tick=False):
        assert_dead(verify(late))


def test_it_can_be_sent_again(api, olga):
    response = ask_again(api, olga)
    assert (response.status_code, response.content) == (202, b"")
    [letter] = mail_to("olga@example.com")
    assert verify(token_in(letter.body)).status_code == 204
    ask_again(api, olga)
    assert mail_to() == []


def test_another_address_is_to_be_confirmed_anew_and_the_old_one_is_told(api, olga):
    olga.verify_email()
    change_email(api, olga, "olga@example.org")
    assert not is_verified(olga)
    told = {message.to[0]: message.subject for message in mail_to()}
    assert told == {
        "olga@example.org": "Please confirm your e-mail address",
        "olga@example.com": "Your e-mail address was changed",
    }


def test_the_same_address_again_stays_confirmed(api, olga):
    olga.verify_email()
    change_email(api, olga, "OLGA@example.com")
    assert is_verified(olga)
    assert not Mail.objects.exists()


def test_a_link_confirms_only_the_address_that_it_was_sent_to(api, olga):
    token = EmailToken.make(olga, MailTemplate.VERIFY)
    change_email(api, olga, "olga@example.org")
    assert_dead(verify(token))
    assert not is_verified(olga)


def test_a_reset_link_confirms_nothing_by_itself(olga):
    assert_dead(verify(EmailToken.make(olga, MailTemplate.RESET)))


def test_a_mail_to_an_address_that_was_left_meanwhile_is_not_sent(api, olga):
    ask_again(api, olga)
    change_email(api, olga, "olga@example.org")
    sent = {(message.to[0], message.subject) for message in mail_to()}
    assert sent == {
        ("olga@example.com", "Your e-mail address was changed"),
        ("olga@example.org", "Please confirm your e-mail address"),
    }


def test_changing_the_address_again_and_again_mails_five_strangers_an_hour_at_most(api, olga):
    for at in range(8):
        change_email(api, olga, f"victim{at}@example.org")
        mail_to()
    asked = EmailToken.objects.filter(user=olga, letter=MailTemplate.VERIFY)
    assert asked.count() == 5
    asked.update(created_at=timezone.now() - timedelta(hours=1))
    change_email(api, olga, "olga@example.net")
    assert mail_to("olga@example.net")


def test_asking_again_is_limited_per_user(api, limits, olga, ed):
    limits(mail="2/hour")
    statuses = [ask_again(api, olga).status_code for _time in range(3)]
    assert statuses == [202, 202, 429]
    assert ask_again(api, ed).status_code == 202


def test_the_account_is_shown_without_a_new_field(api, olga):
    olga.verify_email()
    shown = api(olga).get("/api/users/me").json()
    assert not [name for name in shown if "erif" in name]
