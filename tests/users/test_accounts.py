"""Changing an account: PUT replaces the three fields, /profile any field; oneself or ADMIN."""

import pytest

from tests.document import fields_in, problem_of
from tests.factories import PASSWORD, UserFactory
from tests.users.logins import try_to_log_in

pytestmark = pytest.mark.either

WHOLE = {"name": "Olga Other", "email": "other@example.com", "password": PASSWORD}
LONGEST_URL = "https://example.com/" + "x" * 2028


def assert_refused(response, *fields):
    assert set(fields_in(response)) == set(fields)


def test_put_replaces_all_three_fields(api, olga):
    response = api(olga).put(f"/api/users/{olga.pk}", WHOLE)
    assert response.status_code == 200
    assert (response.json()["name"], response.json()["email"]) == (WHOLE["name"], WHOLE["email"])
    assert api(olga).get("/api/users/me").json() == response.json()
    assert try_to_log_in("other@example.com").status_code == 200
    assert try_to_log_in("olga@example.com").status_code == 401


def test_put_has_the_rules_of_registration(api, olga):
    body = {"name": "O", "email": "o\u212a@example.com", "password": "x" * 129}
    assert_refused(api(olga).put(f"/api/users/{olga.pk}", body), "name", "email", "password")


def test_put_leaves_picture_and_currency_alone(api, olga):
    client = api(olga)
    client.put(f"/api/users/{olga.pk}/profile", {"currency": "JPY", "profilePicture": "/o.webp"})
    assert_refused(client.put(f"/api/users/{olga.pk}", WHOLE | {"currency": "KWD"}), "currency")
    answer = client.put(f"/api/users/{olga.pk}", WHOLE).json()
    assert (answer["currency"], answer["profilePicture"]) == ("JPY", "/o.webp")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Olga Other"), ("email", "Other@Example.com"), ("currency", "KWD"),
        ("profilePicture", "/pictures/olga.webp"), ("profilePicture", "olga.webp?v=2#top"),
        ("profilePicture", "https://example.com/olga.webp"), ("profilePicture", "HTTP://a.example"),
        ("profilePicture", LONGEST_URL), ("profilePicture", None),
    ],
)  # fmt: skip
def test_profile_changes_the_one_field_that_was_sent(api, olga, field, value):
    before = api(olga).get("/api/users/me").json()
    response = api(olga).put(f"/api/users/{olga.pk}/profile", {field: value})
    after = response.json()
    assert response.status_code == 200
    assert (after["updatedAt"] > before["updatedAt"]) == (value != before[field])
    assert after == before | {field: value, "updatedAt": after["updatedAt"]}
    assert api(olga).get("/api/users/me").json() == after


def test_null_clears_the_picture(api, olga):
    client = api(olga)
    client.put(f"/api/users/{olga.pk}/profile", {"profilePicture": "/olga.webp"})
    answer = client.put(f"/api/users/{olga.pk}/profile", {"profilePicture": None}).json()
    assert answer["profilePicture"] is None


def test_a_defaulted_name_of_one_letter_is_no_obstacle(api, db):
    short = UserFactory(name="o", email="o@example.com")
    assert api(short).put(f"/api/users/{short.pk}/profile", {"currency": "JPY"}).status_code == 200


@pytest.mark.parametrize("route", ["", "/profile"])
def test_an_administrator_changes_the_account_of_anybody(api, ada, olga, route):
    response = api(ada).put(f"/api/users/{olga.pk}{route}", WHOLE)
    assert response.json()["name"] == "Olga Other"
    assert response.json()["role"] == "USER"


@pytest.mark.parametrize("route", ["", "/profile"])
def test_for_an_administrator_a_missing_account_is_404(api, ada, route):
    problem_of(api(ada).put(f"/api/users/{10**15}{route}", WHOLE), 404, "not_found")
