"""One account for an address, however it is written and however many ask at once."""

import pytest
from rest_framework.test import APIClient

from tests.document import fields_in
from tests.factories import PASSWORD, UserFactory
from tests.users.logins import try_to_log_in
from users.models import User

pytestmark = pytest.mark.either


def register(email):
    return APIClient().post("/api/users/register", {"email": email, "password": PASSWORD})


def assert_taken(response):
    assert (response.status_code, response.json()["code"]) == (409, "email_taken")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("olga@example.com", "olga@example.com"),
        ("olga@example.com", "OLGA@EXAMPLE.COM"),
        ("Olga@Example.com", "oLGA@eXAMPLE.COM"),
        ("olga@example.com", "  olga@example.com "),
        ("olga@bücher.example", "olga@xn--bcher-kva.example"),
        ("olga@xn--bcher-kva.example", "olga@BÜCHER.example"),
        ("olga@bücher.example", "olga@bu\u0308cher.example"),
        ("olga@example.com", "olga@ｅxample.com"),
        ("olga@kelvin.example", "olga@\u212aelvin.example"),
    ],
)
@pytest.mark.django_db
def test_two_spellings_of_an_address_are_one_account(first, second):
    """T32: E-mail addresses are unique in all their spellings."""
    assert register(first).status_code == 201
    assert_taken(register(second))
    assert User.objects.get().email == first.strip()


LOOK_ALIKES = {
    "Kelvin sign": "o\u212aga",
    "dotless i": "olga\u0131",
    "long s": "\u017fam",
    "accent": "ólga",
    "capital I with a dot": "\u0130",
    "Cyrillic o": "\u043elga",
    "full width": "\uff4flga",
    "zero-width space": "olga\u200b",
    "soft hyphen": "olga\u00ad",
    "emoji": "olga😀",
}


@pytest.mark.parametrize("local", LOOK_ALIKES.values(), ids=LOOK_ALIKES)
@pytest.mark.django_db
def test_the_part_before_the_at_is_ascii(local):
    """T40: Addresses that look alike after normalisation are rejected."""
    assert fields_in(register(f"{local}@example.com")) == ["email"]
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "other",
    ["olga@example.org", "olga@mail.example.com", "olga+1@example.com", "o.lga@example.com"],
)
@pytest.mark.django_db
def test_addresses_that_differ_are_different_accounts(other):
    register("olga@example.com")
    assert register(other).status_code == 201


@pytest.mark.parametrize("route", ["", "/profile"])
def test_an_account_cannot_move_to_a_taken_address(api, olga, ed, route):
    body = {"name": "Olga Owner", "email": "ED@example.com", "password": PASSWORD}
    assert_taken(api(olga).put(f"/api/users/{olga.pk}{route}", body))
    olga.refresh_from_db()
    assert olga.email == "olga@example.com"


@pytest.mark.parametrize("route", ["", "/profile"])
def test_ones_own_address_in_another_spelling_is_free(api, olga, route):
    body = {"name": "Olga Owner", "email": "OLGA@Example.com", "password": PASSWORD}
    response = api(olga).put(f"/api/users/{olga.pk}{route}", body)
    assert response.json()["email"] == "OLGA@Example.com"
    assert try_to_log_in("olga@example.com").status_code == 200


def test_a_left_address_is_free_for_others(api, olga):
    """T30: An e-mail address that its owner gave up does not lead to the old account."""
    client = api(olga)
    client.put(f"/api/users/{olga.pk}/profile", {"email": "olga@example.org"})
    made = register("olga@example.com")
    assert (made.status_code, made.json()["user"]["id"] == olga.pk) == (201, False)
    assert client.get("/api/users/me").json()["id"] == olga.pk


@pytest.mark.django_db
def test_a_deactivated_account_keeps_its_address():
    UserFactory(email="gone@example.com").deactivate(by=None)
    assert_taken(register("gone@example.com"))
