"""The second factor of everybody, over the API: set up, asked for, refused and removed."""

from base64 import b32decode

import pytest
from django.core.management import call_command
from django_otp.oath import TOTP
from rest_framework.test import APIClient

from plugins.second_factor.models import MOST_SECONDS, AuthenticatorApp, Challenge
from tests.document import problem_of
from tests.factories import PASSWORD
from tests.own_data import own_data
from tests.users.logins import bearer, log_in, try_to_log_in
from users.mail_templates import MailTemplate
from users.models import EmailToken, User

pytestmark = pytest.mark.either

OWN = "/api/users/me/second-factor"
HALF_A_MINUTE = 30
WRONG = "000000"


class Phone:
    """An authenticator app, which knows the secret and the time alone."""

    def __init__(self, user):
        self.user, self.client = user, bearer(log_in(user)["token"])
        self.offered = self.client.post(OWN).json()
        self.codes: list[str] = []

    def shown(self):
        return f"{TOTP(b32decode(self.offered['secret'])).token():06}"

    def confirm(self):
        answer = self.client.post(f"{OWN}/confirm", {"code": self.shown()}, format="json")
        self.codes = answer.json().get("recoveryCodes", [])
        return answer


@pytest.fixture
def phone(olga, clock):
    """Olga's app, turned on; the clock has moved on to its next code."""
    phone = Phone(olga)
    assert phone.confirm().status_code == 200
    clock.shift(HALF_A_MINUTE)
    return phone


def challenge_of(user, password=PASSWORD):
    document = problem_of(try_to_log_in(user.email, password), 401, "second_factor_required")
    assert document["methods"] == ["totp", "recovery_code"]
    return document["challenge"]


def answer(challenge, code, **headers):
    body = {"challenge": challenge, "code": code}
    return APIClient().post("/api/users/login/second-factor", body, format="json", **headers)


def test_a_log_in_asks_for_a_code_once_there_is_an_app(phone, olga):
    challenge = challenge_of(olga)
    response = answer(challenge, f" {phone.shown()[:3]}-{phone.shown()[3:]} ")
    assert response.status_code == 200
    assert response.json()["user"]["id"] == olga.pk
    assert bearer(response.json()["token"]).get("/api/users/me").status_code == 200
    problem_of(answer(challenge, phone.codes[0]), 401, "challenge_ended")
    problem_of(answer(challenge_of(olga), phone.shown()), 401, "wrong_code")


def test_an_offered_app_changes_nothing_until_it_is_confirmed(olga, clock):
    first, second = Phone(olga), Phone(olga)
    assert second.offered["uri"].startswith("otpauth://totp/Trip%20Companion")
    assert f"secret={second.offered['secret']}" in second.offered["uri"]
    assert second.client.get(OWN).json() == {"enabled": False, "recoveryCodesLeft": 0}
    assert set(log_in(olga)) > {"token"}
    refused = problem_of(first.confirm(), 400, "invalid")
    assert refused["errors"] == {"code": ["The code is wrong, or has been used already."]}
    assert second.confirm().status_code == 200
    assert len(set(second.codes)) == 10
    assert second.client.get(OWN).json() == {"enabled": True, "recoveryCodesLeft": 10}
    problem_of(second.client.post(OWN), 409, "second_factor_exists")
    problem_of(second.confirm(), 409, "no_second_factor")


def test_no_answer_with_a_secret_is_repeated_by_an_idempotency_key(olga, clock):
    """An app that is offered again takes the place of the first one, and a code works once."""
    phone, key = Phone(olga), {"HTTP_IDEMPOTENCY_KEY": "app"}
    first, again = (phone.client.post(OWN, **key) for _time in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["secret"] != again.json()["secret"]
    phone.offered, code = again.json(), {"HTTP_IDEMPOTENCY_KEY": "code"}
    body = {"code": phone.shown()}
    assert phone.client.post(f"{OWN}/confirm", body, format="json", **code).status_code == 200
    repeated = phone.client.post(f"{OWN}/confirm", body, format="json", **code)
    problem_of(repeated, 409, "no_second_factor")


def test_a_recovery_code_works_once(phone, olga):
    code = phone.codes[0]
    assert answer(challenge_of(olga), code).status_code == 200
    problem_of(answer(challenge_of(olga), code), 401, "wrong_code")
    assert phone.client.get(OWN).json()["recoveryCodesLeft"] == 9


def test_a_challenge_ends_with_the_fifth_wrong_code(phone, olga, clock, limits):
    limits(login="")
    challenge = challenge_of(olga)
    for _time in range(5):
        problem_of(answer(challenge, WRONG), 401, "wrong_code")
    problem_of(answer(challenge, phone.shown()), 401, "challenge_ended")
    # By now guesses wait, whatever the challenge and the address.
    again = challenge_of(olga)
    assert answer(again, WRONG, REMOTE_ADDR="192.0.2.7").status_code == 429
    clock.shift(1)
    problem_of(answer(again, WRONG), 401, "wrong_code")
    clock.shift(1)
    assert answer(again, phone.shown()).status_code == 429
    clock.shift(1)
    assert answer(again, phone.shown()).status_code == 200


def test_whoever_has_the_password_does_not_lock_the_owner_out_for_long(phone, olga, clock, limits):
    limits(login="")
    for _time in range(20):
        assert AuthenticatorApp.accepts(olga, WRONG) is None
        clock.shift(MOST_SECONDS)
    AuthenticatorApp.accepts(olga, WRONG)
    for seconds, status in ((MOST_SECONDS - 2 * HALF_A_MINUTE, 429), (2 * HALF_A_MINUTE, 200)):
        clock.shift(seconds)
        assert answer(challenge_of(olga), phone.shown()).status_code == status


@pytest.mark.parametrize(("seconds", "status"), [(299, 200), (300, 401)])
def test_a_challenge_lasts_five_minutes(phone, olga, clock, seconds, status):
    challenge = challenge_of(olga)
    clock.shift(seconds)
    assert answer(challenge, phone.shown()).status_code == status


@pytest.mark.parametrize("change", ["password", "deactivated", "logged out"])
def test_a_challenge_ends_with_what_ends_sessions(phone, olga, change):
    challenge = challenge_of(olga)
    match change:
        case "password":
            olga.change(by=None, password="another good one")
        case "deactivated":
            olga.deactivate(by=None)
        case "logged out":
            olga.log_out_everywhere(by=None)
    problem_of(answer(challenge, phone.shown()), 401, "challenge_ended")


def test_codes_count_as_log_in_attempts(phone, olga, limits):
    challenge = challenge_of(olga)
    limits(login="1/hour")
    problem_of(answer(challenge, WRONG), 401, "wrong_code")
    assert answer(challenge, phone.shown()).status_code == 429


def test_it_is_removed_with_a_code(phone, olga):
    refused = phone.client.delete(OWN, {"code": WRONG}, format="json")
    assert [*problem_of(refused, 400, "invalid")["errors"]] == ["code"]
    assert phone.client.delete(OWN, {"code": phone.codes[3]}, format="json").status_code == 204
    assert log_in(olga)["token"]
    assert phone.client.get(OWN).json() == {"enabled": False, "recoveryCodesLeft": 0}
    assert phone.client.delete(OWN, {"code": WRONG}, format="json").status_code == 404


def test_a_stolen_token_sets_nothing_up(olga, clock):
    client = bearer(log_in(olga)["token"])
    clock.shift(601)
    problem_of(client.post(OWN), 403, "log_in_again")


def test_who_reclaims_an_account_finds_no_second_factor_of_somebody_else(phone, olga, clock):
    """A second factor that was set up before the address was confirmed does not last."""
    User.objects.filter(pk=olga.pk).update(email_verified_at=None)
    for is_asked in (False, True):
        with olga.locked(by=None) as account:
            token = EmailToken.make(account, MailTemplate.RESET)
        EmailToken.reset_password(token, "another good one")
        if is_asked:
            challenge_of(olga, "another good one")
        else:
            assert try_to_log_in(olga.email, "another good one").status_code == 200
            olga.refresh_from_db()
            phone.client = bearer(try_to_log_in(olga.email, "another good one").json()["token"])
            phone.offered = phone.client.post(OWN).json()
            phone.confirm()


def test_a_new_address_whose_owner_resets_all_needs_a_log_in_with_a_code(phone, olga, clock):
    clock.shift(600)
    body = {"email": "thief@example.com", "currentPassword": PASSWORD}
    path = f"/api/users/{olga.pk}/profile"
    problem_of(phone.client.put(path, body, format="json"), 403, "log_in_again")
    own = {"email": olga.email, "currentPassword": PASSWORD}
    assert phone.client.put(path, own, format="json").status_code == 200
    fresh = bearer(answer(challenge_of(olga), phone.shown()).json()["token"])
    assert fresh.put(path, body, format="json").status_code == 200


def test_the_export_has_no_secret(phone, olga):
    held = own_data(olga)
    assert held["authenticatorApps"]
    assert phone.offered["secret"] not in str(held)


def test_old_challenges_are_pruned(phone, olga, clock):
    challenge_of(olga)
    clock.shift(301)
    call_command("prune")
    assert not Challenge.objects.exists()
