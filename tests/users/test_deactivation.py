"""A deactivated account: deactivated at once, and nothing of others is lost."""

import pytest

from tests.users.logins import bearer, is_alive, log_in, refresh, try_to_log_in
from users.models import User

pytestmark = pytest.mark.either


def test_every_token_dies_at_once(olga):
    """T24: A deactivated account has no access and cannot log in."""
    pairs = [log_in(olga), log_in(olga)]
    olga.deactivate(by=None)
    for pair in pairs:
        response = bearer(pair["token"]).get("/api/users/me")
        assert (response.status_code, response.json()["code"]) == (401, "token_invalid")
        assert refresh(pair["refreshToken"]).status_code == 401


def test_the_tokens_stay_dead_when_the_account_is_let_in_again(olga):
    pair = log_in(olga)
    olga.deactivate(by=None)
    User.objects.filter(pk=olga.pk).update(is_active=True)
    assert not is_alive(pair["token"])
    assert refresh(pair["refreshToken"]).status_code == 401
    assert is_alive(log_in(olga)["token"])


def test_a_row_that_is_barred_behind_the_api_opens_nothing_either(olga):
    pair = log_in(olga)
    User.objects.filter(pk=olga.pk).update(is_active=False)
    assert not is_alive(pair["token"])
    assert refresh(pair["refreshToken"]).status_code == 401
    assert try_to_log_in("olga@example.com").status_code == 401


@pytest.mark.parametrize("named_by", ["userId", "email"])
def test_nobody_adds_a_barred_account(api, trip, olga, sam, named_by):
    sam.deactivate(by=None)
    body = {"userId": sam.pk} if named_by == "userId" else {"email": sam.email}
    response = api(olga).post(f"/api/trips/{trip.pk}/members", body)
    assert (response.status_code, response.json()["code"]) == (404, "user_not_found")
