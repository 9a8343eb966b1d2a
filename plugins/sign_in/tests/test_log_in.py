"""Logging in with an identity token: whom it lets in, and what it makes."""

import pytest
from django_otp.plugins.otp_totp.models import TOTPDevice
from rest_framework.test import APIClient

from plugins.sign_in.models import Identity
from plugins.sign_in.tests.provider import EXAMPLE, learn, linked, token_of
from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory
from tests.users.logins import bearer
from users.mail_templates import MailTemplate
from users.models import EmailToken, Mail, User

pytestmark = [pytest.mark.either, pytest.mark.django_db]

PATH = "/api/users/login/oidc"


@pytest.fixture(autouse=True)
def provider(settings):
    settings.OIDC_PROVIDERS = [EXAMPLE]
    learn()


def send(token=None, **claims):
    body = {"provider": "example", "idToken": token or token_of(EXAMPLE, **claims)}
    return APIClient().post(PATH, body)


def test_a_front_end_finds_out_how_people_log_in():
    shown = {
        "provider": "example",
        "name": "Example",
        "clientId": "trip-companion",
        "issuer": "https://accounts.example.com",
    }
    answer = APIClient().get("/api/users/login/methods").json()
    assert (answer["password"], answer["oidc"]) == (True, [shown])


def test_without_a_provider_there_is_none(settings):
    settings.OIDC_PROVIDERS = []
    assert APIClient().get("/api/users/login/methods").json()["oidc"] == []
    assert problem_of(send(), 400, "invalid")["errors"].keys() == {"provider"}


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_the_first_log_in_makes_an_account_without_a_password(algorithm):
    nonce = APIClient().post(f"{PATH}/nonce").json()
    assert nonce["expiresIn"] == 600
    answer = send(token_of(EXAMPLE, algorithm, nonce=nonce["nonce"]))
    assert answer.status_code == 201
    login = answer.json()
    assert answer["Location"] == f"/api/users/{login['user']['id']}"
    assert (login["user"]["name"], login["user"]["email"]) == ("Nora Haddad", "nora@example.com")
    assert bearer(login["token"]).get("/api/users/me").json() == login["user"]
    user = User.objects.get()
    assert not user.has_usable_password()
    assert user.email_verified_at is not None
    assert not Mail.objects.exists()


def test_the_next_one_finds_it_by_its_subject():
    made = send().json()
    again = send(email="other@example.com", name="Somebody Else")
    assert again.status_code == 200
    assert "Location" not in again
    assert again.json()["user"] == made["user"]
    assert User.objects.count() == 1
    assert Identity.objects.get().used_at is not None


def test_an_address_that_the_provider_has_not_verified_makes_no_account():
    for verified in (False, None, "false", 1, "yes", []):
        problem_of(send(email_verified=verified), 409, "link_first")
    for email in (None, "nora", "ñora@example.com", ["nora@example.com"], 7):
        problem_of(send(email=email), 409, "link_first")
    assert not User.objects.exists()


def test_a_verified_address_may_be_marked_by_a_text():
    assert send(email_verified="true").status_code == 201


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_an_address_alone_leads_into_no_account(is_confirmed):
    """T230: An identity token opens no account of its address, however it was made."""
    nora = UserFactory(email="nora@example.com")
    if is_confirmed:
        nora.verify_email()
    before = User.objects.values().get()
    problem_of(send(email="NORA@EXAMPLE.COM"), 409, "link_first")
    assert User.objects.values().get() == before
    assert not Identity.objects.exists()


def test_a_token_that_was_refused_for_that_can_still_link(api):
    nora = UserFactory(email="nora@example.com")
    token = token_of(EXAMPLE)
    problem_of(send(token), 409, "link_first")
    answer = api(nora).post("/api/users/me/identities", {"provider": "example", "idToken": token})
    assert answer.status_code == 201
    assert send().json()["user"]["id"] == nora.pk


def test_another_issuer_under_the_same_name_opens_no_account(settings):
    nora = send().json()["user"]["id"]
    moved = EXAMPLE._replace(issuer="https://login.example.net")
    settings.OIDC_PROVIDERS = [moved]
    learn(provider=moved)
    answer = send(token_of(moved, email="else@example.com"))
    assert answer.status_code == 201
    assert answer.json()["user"]["id"] != nora


def test_a_deactivated_account_stays_closed():
    send()
    User.objects.get().deactivate(by=None)
    problem_of(send(), 401, "bad_credentials")


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("  Nora Haddad  ", "Nora Haddad"),
        ("N" * 80, "N" * 50),
        ("N", "nora"),
        ("", "nora"),
        ("No\x00ra", "nora"),
        (None, "nora"),
        ({"given": "Nora"}, "nora"),
    ],
)
def test_the_name_is_the_one_of_the_provider_if_it_can_be_one(claim, name):
    assert send(name=claim).json()["user"]["name"] == name


def test_a_second_factor_is_asked_for_here_too(api):
    pytest.importorskip("plugins.second_factor")
    TOTPDevice.objects.create(user=User.objects.get(pk=send().json()["user"]["id"]), confirmed=True)
    assert problem_of(send(), 401, "second_factor_required")["challenge"]


def test_the_account_sets_a_password_by_a_reset():
    send()
    token = EmailToken.make(User.objects.get(), MailTemplate.RESET)
    body = {"token": token, "newPassword": "ten-odd-umbrellas"}
    assert APIClient().post("/api/users/password-reset/confirm", body).status_code == 204
    login = {"email": "nora@example.com", "password": "ten-odd-umbrellas"}
    assert APIClient().post("/api/users/login", login).status_code == 200
    assert send().status_code == 200


def test_no_password_opens_an_account_without_one():
    send()
    for password in ("", "!", PASSWORD, User.objects.get().password):
        body = {"email": "nora@example.com", "password": password or " "}
        problem_of(APIClient().post("/api/users/login", body), 401, "bad_credentials")


def test_whoever_reclaims_an_address_removes_what_was_linked_before():
    """T231: Whoever proves to own an address gets rid of providers that somebody else linked."""
    squatter = UserFactory(email="nora@example.com")
    linked(squatter)
    token = EmailToken.make(squatter, MailTemplate.RESET)
    body = {"token": token, "newPassword": "ten-odd-umbrellas"}
    assert APIClient().post("/api/users/password-reset/confirm", body).status_code == 204
    assert not Identity.objects.exists()


def test_new_accounts_count_as_registrations(limits):
    limits(register="2/hour")
    for number in range(2):
        assert send(sub=str(number), email=f"n{number}@example.com").status_code == 201
    problem_of(send(sub="3", email="n3@example.com"), 429, "throttled")
    assert send(sub="1").status_code == 200
    assert User.objects.count() == 2
