"""A new password: the caller's own log-in lives on, every other one of that user dies."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.document import fields_in, problem_of
from tests.factories import PASSWORD
from tests.users.logins import bearer, is_alive, log_in, refresh, try_to_log_in
from users.models import Session

pytestmark = pytest.mark.either

NEW = "five-yellow-umbrellas"
BODIES: dict[str, dict[str, str]] = {
    "": {"name": "Olga Owner", "email": "olga@example.com", "password": NEW},
    "/profile": {"currentPassword": PASSWORD, "newPassword": NEW, "newPasswordConfirm": NEW},
}


@pytest.fixture(params=BODIES, ids=["PUT", "profile"])
def route(request):
    return request.param


def test_the_new_password_logs_in_and_the_old_one_does_not(api, olga, route):
    response = api(olga).put(f"/api/users/{olga.pk}{route}", BODIES[route])
    assert response.status_code == 200
    assert NEW not in response.content.decode()
    assert try_to_log_in("olga@example.com", NEW).status_code == 200
    assert try_to_log_in("olga@example.com", PASSWORD).status_code == 401


def test_ones_own_log_in_lives_on_and_all_others_die_at_once(olga, route):
    """T26: Changing the password ends all other sessions."""
    own, phone, library = log_in(olga), log_in(olga), log_in(olga)
    bearer(own["token"]).put(f"/api/users/{olga.pk}{route}", BODIES[route])
    assert is_alive(own["token"])
    assert not is_alive(phone["token"])
    assert not is_alive(library["token"])
    assert refresh(phone["refreshToken"]).status_code == 401
    assert is_alive(refresh(own["refreshToken"]).json()["token"])


def test_the_same_password_again_ends_nothing(olga, route):
    own, phone = log_in(olga), log_in(olga)
    body = {key: PASSWORD if value == NEW else value for key, value in BODIES[route].items()}
    assert bearer(own["token"]).put(f"/api/users/{olga.pk}{route}", body).status_code == 200
    assert is_alive(phone["token"])


def test_other_changes_end_nothing(olga):
    own, phone = log_in(olga), log_in(olga)
    change = {"name": "Olga Other", "email": "other@example.com"}
    bearer(own["token"]).put(f"/api/users/{olga.pk}/profile", change)
    assert is_alive(phone["token"])
    assert refresh(phone["refreshToken"]).status_code == 200


def test_a_password_that_an_administrator_sets_ends_every_log_in_of_the_user(api, ada, olga, route):
    of_olga, client = log_in(olga), api(ada)
    body = {key: value for key, value in BODIES[route].items() if key != "currentPassword"}
    assert client.put(f"/api/users/{olga.pk}{route}", body).status_code == 200
    assert not is_alive(of_olga["token"])
    assert client.get("/api/users/me").status_code == 200
    assert try_to_log_in("olga@example.com", NEW).status_code == 200


@pytest.mark.parametrize(
    "current",
    [..., None, "", "wrong-password", NEW, PASSWORD.upper(), f" {PASSWORD}", 12, "x" * 129],
)
def test_a_wrong_or_missing_current_password_is_refused_on_its_field(olga, current):
    own, phone = log_in(olga), log_in(olga)
    body = (
        {"newPassword": NEW} if current is ... else {"newPassword": NEW, "currentPassword": current}
    )
    assert_refused(put_profile(own, olga, body), "currentPassword")
    assert is_alive(own["token"])
    assert is_alive(phone["token"])
    assert try_to_log_in("olga@example.com", PASSWORD).status_code == 200


def test_an_administrator_too_proves_their_own_current_password(ada):
    assert_refused(put_profile(log_in(ada), ada, {"newPassword": NEW}), "currentPassword")


@pytest.mark.parametrize("confirmation", ["", "six-brown-hats-here", NEW.upper(), f"{NEW} "])
def test_a_confirmation_that_differs_is_refused_on_its_field(olga, confirmation):
    body = BODIES["/profile"] | {"newPasswordConfirm": confirmation}
    assert_refused(put_profile(log_in(olga), olga, body), "newPasswordConfirm")
    assert try_to_log_in("olga@example.com", PASSWORD).status_code == 200


def test_the_confirmation_may_be_left_out(olga):
    body = {"currentPassword": PASSWORD, "newPassword": NEW}
    assert put_profile(log_in(olga), olga, body).status_code == 200
    assert try_to_log_in("olga@example.com", NEW).status_code == 200


@pytest.mark.parametrize("new", ["", "seven77", "password123", "x" * 129, 1234567890])
def test_a_new_password_has_the_rules_of_registration(olga, new):
    body = {"currentPassword": PASSWORD, "newPassword": new}
    assert_refused(put_profile(log_in(olga), olga, body), "newPassword")


@pytest.mark.parametrize("body", [{"currentPassword": "wrong"}, {"newPasswordConfirm": NEW},
                                  {"password": NEW}])  # fmt: skip
def test_without_a_new_password_nothing_is_changed(olga, body):
    assert put_profile(log_in(olga), olga, body).status_code == 200
    assert try_to_log_in("olga@example.com", PASSWORD).status_code == 200


def test_a_refused_change_changes_no_other_field(olga):
    own = log_in(olga)
    body = {"name": "Olga Other", "newPassword": NEW, "currentPassword": "wrong-password"}
    assert_refused(put_profile(own, olga, body), "currentPassword")
    assert bearer(own["token"]).get("/api/users/me").json()["name"] == "Olga Owner"


def test_a_taken_address_leaves_the_password_and_the_log_ins_alone(olga, ed):
    own, phone = log_in(olga), log_in(olga)
    body = BODIES[""] | {"email": "ed@example.com"}
    problem_of(bearer(own["token"]).put(f"/api/users/{olga.pk}", body), 409, "email_taken")
    assert is_alive(phone["token"])
    assert try_to_log_in("olga@example.com", PASSWORD).status_code == 200


def put_profile(pair, user, body):
    return bearer(pair["token"]).put(f"/api/users/{user.pk}/profile", body)


def assert_refused(response, field):
    assert fields_in(response) == [field]


def old_log_in(user):
    """A client whose log-in was eleven minutes ago."""
    client = bearer(log_in(user)["token"])
    Session.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    return client


@pytest.mark.parametrize(
    "changes",
    [{"password": NEW}, {"email": "new@example.com", "password": NEW}],
    ids=["own", "all"],
)
def test_an_old_log_in_does_not_take_the_account_away(olga, changes):
    client, path = old_log_in(olga), f"/api/users/{olga.pk}"
    body = {"name": "Olga", "email": olga.email, **changes}
    problem_of(client.put(path, body), 403, "log_in_again")
    wrong = client.put(path, {**body, "currentPassword": "not-this-one"})
    assert wrong.json()["errors"].keys() == {"currentPassword"}
    assert try_to_log_in(olga.email).status_code == 200
    assert client.put(path, {**body, "currentPassword": PASSWORD}).status_code == 200
    assert try_to_log_in(body["email"], NEW).status_code == 200


def test_the_current_password_in_the_body_is_proof_enough(olga):
    client, path = old_log_in(olga), f"/api/users/{olga.pk}"
    body = {"name": "Olga", "email": "new@example.com", "password": PASSWORD}
    assert client.put(path, body).status_code == 200


def test_a_new_address_in_the_profile_asks_for_the_same(olga):
    client, path = old_log_in(olga), f"/api/users/{olga.pk}/profile"
    assert client.put(path, {"name": "Olga", "email": "OLGA@example.com"}).status_code == 200
    body = {"email": "new@example.com"}
    problem_of(client.put(path, body), 403, "log_in_again")
    assert client.put(path, {**body, "currentPassword": PASSWORD}).status_code == 200


def test_an_administrator_needs_nobody_elses_password(olga, ada):
    body = {"name": "Olga", "email": "new@example.com", "password": NEW}
    assert old_log_in(ada).put(f"/api/users/{olga.pk}", body).status_code == 200
