"""Registration: the rules of its three fields, and what it answers."""

import unicodedata

import pytest
from django.conf import settings
from rest_framework.test import APIClient

from tests.document import fields_in
from tests.factories import PASSWORD
from tests.users.logins import is_alive, refresh, try_to_log_in
from users.models import User
from users.serializers.account import ADDED

pytestmark = [pytest.mark.either, pytest.mark.django_db]

NINA = {"name": "Nina New", "email": "nina@example.com", "password": PASSWORD}


def register(**fields):
    """Register Nina with other `fields`; an ellipsis leaves one out."""
    body = {key: value for key, value in (NINA | fields).items() if value is not ...}
    return APIClient().post("/api/users/register", body)


def test_registering_logs_in():
    response = register()
    answer = response.json()
    user = User.objects.get()
    assert response.status_code == 201
    assert response["Location"] == f"/api/users/{user.pk}"
    assert set(answer) == {
        "token", "type", "expiresIn", "refreshToken", "refreshExpiresIn", "user",
    }  # fmt: skip
    assert answer["type"] == "Bearer"
    assert answer["expiresIn"] == settings.ACCESS_TOKEN_LIFETIME
    assert answer["refreshExpiresIn"] == settings.REFRESH_TOKEN_LIFETIME
    assert is_alive(answer["token"])
    assert refresh(answer["refreshToken"]).status_code == 200


def test_the_answer_shows_the_new_account_whole():
    shown = register().json()["user"]
    created_at, updated_at = shown.pop("createdAt"), shown.pop("updatedAt")
    shown = {name: value for name, value in shown.items() if name not in ADDED}
    assert created_at.endswith("Z")
    assert updated_at.endswith("Z")
    assert shown == {
        "id": User.objects.get().pk,
        "name": "Nina New",
        "email": "nina@example.com",
        "role": "USER",
        "profilePicture": None,
        "currency": "EUR",
        "mayBeAdded": True,
    }


def test_the_name_defaults_to_the_part_before_the_at():
    assert register(name=..., email="Nina.New+trips@example.com").json()["user"]["name"] == (
        "Nina.New+trips"
    )


def test_a_defaulted_name_is_cut_to_the_longest_name():
    assert register(name=..., email=f"{'n' * 64}@example.com").json()["user"]["name"] == "n" * 50


def test_name_and_email_are_trimmed_and_kept_as_typed():
    shown = register(name="  Nina \n", email="  Nina.New@Example.COM ").json()["user"]
    assert (shown["name"], shown["email"]) == ("Nina", "Nina.New@Example.COM")


@pytest.mark.parametrize("name", ["Li", "n" * 50, "Ñandú Ōta", "<b>Nina</b>", "😀😀"])
def test_names_from_2_to_50_characters_pass(name):
    response = register(name=name)
    assert response.status_code == 201
    assert response.json()["user"]["name"] == name


@pytest.mark.parametrize("name", ["", "   ", "N", " N ", "n" * 51, 12, True, ["Nina"], {}])
def test_other_names_are_refused_on_the_field(name):
    assert_refused(register(name=name), "name")


@pytest.mark.parametrize(
    "email",
    [
        "", "   ", "nina", "nina@", "@example.com", "nina@-", "nina@exam_ple",
        "nina@@example.com", "nina new@example.com", "nina@exa mple.com", "nina@-example.com",
        "nina@example..com", "nina@example.com\n.org", "nina@[127.0.0.1",
        "nina@example.com.", "nina@example\u3002com", "a\r\nb@example.com",
        f"{'n' * 250}@example.com", f"nina@{'e' * 64}.com", "nina@example.com, ed@example.com",
        None, 12, True, ["nina@example.com"], {},
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_on_the_field(email):
    assert_refused(register(email=email), "email")


FREE_PASSWORDS = {
    "8 characters": "eight888",
    "digits": "73920184756",
    "blanks": " " * 8,
    "128 characters": "x" * 128,
    "no ASCII": "緑の鞄が四つあります",
    "beyond the most common": "Password1!",
    "the name": "Nina New",
    "the e-mail": "nina@example.com",
}


@pytest.mark.parametrize("password", FREE_PASSWORDS.values(), ids=FREE_PASSWORDS)
def test_there_is_no_composition_rule_for_passwords(password):
    assert register(password=password).status_code == 201
    assert try_to_log_in("nina@example.com", password).status_code == 200


@pytest.mark.parametrize(
    "password",
    ["", "seven77", "x" * 129, "password123", "PASSWORD123", "12345678", None, 1234567890, True,
     ["four-green-suitcases"], {}],
)  # fmt: skip
def test_short_long_and_common_passwords_are_refused_on_the_field(password):
    assert_refused(register(password=password), "password")


COMPOSED = "señorita ñandú"


@pytest.mark.parametrize(
    ("password", "other"),
    [
        ("  four-green-suitcases ", "four-green-suitcases"),
        # Some algorithms read no more than 72 bytes.
        ("b" * 72 + "1" * 28, "b" * 72 + "2" * 28),
        (unicodedata.normalize("NFC", COMPOSED), unicodedata.normalize("NFD", COMPOSED)),
    ],
    ids=["blanks", "long", "letters"],
)
def test_a_password_is_taken_exactly_as_it_is_typed(password, other):
    """T38: A password is used exactly as it is typed."""
    assert register(password=password).status_code == 201
    assert try_to_log_in("nina@example.com", password).status_code == 200
    assert try_to_log_in("nina@example.com", other).status_code == 401


def test_a_password_is_never_shown_and_stored_as_argon2id_for_a_small_server(full_hashes):
    response = register()
    stored = User.objects.get().password
    assert PASSWORD not in response.content.decode()
    assert "$argon2id$v=19$m=19456,t=2,p=1$" in stored


def assert_refused(response, field):
    assert fields_in(response) == [field]
    assert not User.objects.exists()
