"""Log-out: the whole log-in is dead at once, and no other."""

import pytest
from rest_framework.test import APIClient

from tests.users.logins import is_alive, log_in, refresh

pytestmark = pytest.mark.either


def log_out(refresh_token):
    return APIClient().post("/api/users/logout", {"refreshToken": refresh_token})


def test_logging_out_kills_the_access_and_the_refresh_token_at_once(olga):
    """T27: Logging out ends the session at once."""
    pair = log_in(olga)
    response = log_out(pair["refreshToken"])
    assert (response.status_code, response.content) == (204, b"")
    assert not is_alive(pair["token"])
    assert refresh(pair["refreshToken"]).status_code == 401


def test_all_tokens_of_the_log_in_die_not_only_the_latest(olga):
    first = log_in(olga)
    second = refresh(first["refreshToken"]).json()
    log_out(second["refreshToken"])
    assert not is_alive(first["token"])
    assert not is_alive(second["token"])


def test_other_log_ins_live_on(olga, ed):
    here, elsewhere, of_ed = log_in(olga), log_in(olga), log_in(ed)
    log_out(here["refreshToken"])
    assert is_alive(elsewhere["token"])
    assert refresh(elsewhere["refreshToken"]).status_code == 200
    assert is_alive(of_ed["token"])


def test_one_can_log_in_again(olga):
    log_out(log_in(olga)["refreshToken"])
    assert is_alive(log_in(olga)["token"])


@pytest.mark.django_db
def test_junk_logs_nobody_out():
    response = log_out("a.b.c")
    assert (response.status_code, response.json()["code"]) == (401, "token_invalid")
