"""What one sees of oneself and of others: the shape is always that of a UserDTO."""

import pytest
from rest_framework.test import APIClient

from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory
from tests.trips.bodies import lisbon
from users.models import User
from users.serializers.account import ADDED

pytestmark = pytest.mark.either

PRIVATE = dict.fromkeys(("role", "currency", *ADDED, "mayBeAdded", "createdAt", "updatedAt"))
SHAPE = {"id", "name", "email", "profilePicture", *PRIVATE}


@pytest.fixture
def whole(api, ed):
    """Ed's account as he sees it himself."""
    change = {"profilePicture": "/ed.webp", "currency": "JPY"}
    shown = api(ed).put(f"/api/users/{ed.pk}/profile", change).json()
    assert set(shown) == SHAPE
    assert all(value is not None for value in shown.values())
    return shown


def test_me_is_the_own_account_whole(api, ed, whole):
    client = api(ed)
    assert client.get("/api/users/me").json() == whole
    assert client.get(f"/api/users/{ed.pk}").json() == whole


def test_an_administrator_sees_every_account_whole(api, ada, ed, whole):
    client = api(ada)
    assert client.get(f"/api/users/{ed.pk}").json() == whole
    assert client.get("/api/users/email/ed@example.com").json() == whole


def test_a_companion_sees_no_role_currency_or_instant(api, trip, ed, vera, whole):
    assert api(vera).get(f"/api/users/{ed.pk}").json() == whole | PRIVATE


def test_a_stranger_sees_no_email_either(api, trip, ed, sam, whole):
    """T09: What a user can see of another depends on shared trips."""
    assert api(sam).get(f"/api/users/{ed.pk}").json() == whole | PRIVATE | {"email": None}


def test_who_leaves_is_a_stranger_again(api, trip, ed, vera, whole):
    api(vera).post(f"/api/trips/{trip.pk}/members/leave")
    assert api(vera).get(f"/api/users/{ed.pk}").json()["email"] is None
    assert api(ed).get(f"/api/users/{vera.pk}").json()["email"] is None


def test_who_share_a_deleted_trip_are_strangers(api, trip, olga, ed, whole):
    client = api(olga)
    client.delete(f"/api/trips/{trip.pk}")
    assert client.get(f"/api/users/{ed.pk}").json()["email"] is None


def test_the_companion_of_a_companion_is_a_stranger(api, trip, ed, sam, ada):
    other = api(sam).post("/api/trips", lisbon())
    api(sam).post(f"/api/trips/{other.json()['id']}/members", {"email": "ed@example.com"})
    assert api(sam).get(f"/api/users/{ed.pk}").json()["email"] == "ed@example.com"
    vera_id = User.objects.get(email="vera@example.com").pk
    assert api(sam).get(f"/api/users/{vera_id}").json()["email"] is None


def test_an_account_that_does_not_exist_is_404(api, sam):
    problem_of(api(sam).get(f"/api/users/{10**15}"), 404, "not_found")


@pytest.mark.parametrize("typed", ["ed@example.com", "ED@Example.COM", "%65d@example.com"])
def test_the_look_up_finds_the_address_in_any_case_as_for_a_companion(api, ed, sam, whole, typed):
    response = api(sam).get(f"/api/users/email/{typed}")
    assert response.status_code == 200
    assert response.json() == whole | PRIVATE


@pytest.mark.parametrize(
    "typed",
    ["ed", "ed@", "ed@example", "d@example.com", "ed@example.co", "%25@example.com",
     "_d@example.com", "e\u212a@example.com", "ed@example.com%00", "%20ed@example.com", "x" * 300,
     "ed%40example.org"],
)  # fmt: skip
def test_the_look_up_is_exact(api, ed, sam, typed):
    """T33: The lookup by e-mail address needs an exact match and authentication."""
    client = api(sam)
    response = client.get(f"/api/users/email/{typed}")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert response.content == client.get("/api/users/email/nobody@example.com").content


@pytest.mark.parametrize(
    "address", ["ed+trips@example.com", "e/d@example.com", "e'd&#?@example.com"]
)
def test_every_address_that_can_register_can_be_looked_up(api, sam, address):
    body = {"email": address, "password": PASSWORD}
    assert APIClient().post("/api/users/register", body).status_code == 201
    typed = address.replace("/", "%2F").replace("#", "%23").replace("?", "%3F")
    response = api(sam).get(f"/api/users/email/{typed}")
    assert response.json()["email"] == address


def test_the_look_up_finds_an_international_domain_in_both_spellings(api, sam):
    UserFactory(email="ed@bücher.example")
    client = api(sam)
    for typed in ("ed@b%C3%BCcher.example", "ed@xn--bcher-kva.example"):
        assert client.get(f"/api/users/email/{typed}").json()["email"] == "ed@bücher.example"
