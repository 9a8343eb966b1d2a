"""Rows T25, T38 and T39: who one is, by an id and a password."""

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from tests.factories import PASSWORD
from tests.stored import everything_stored
from tests.users.logins import is_alive, log_in, refresh
from users.models import User

pytestmark = pytest.mark.either


def register(email):
    return APIClient().post("/api/users/register", {"email": email, "password": PASSWORD})


# -- Accounts that are no more --------------------------------------------------------------------


def test_t25_a_deleted_account_opens_nothing_and_its_id_is_not_given_again(environment):
    """T25: A deleted account has no access, and its id is not reused."""
    gone = environment.ask(environment.ada, "DELETE", f"/api/users/{environment.vera.pk}")
    assert gone.status_code == 204
    newcomer = register("vera@example.com").json()["user"]["id"]
    assert newcomer not in {user.pk for user in (*environment.cast.values(), environment.dora)}
    # Ids are counted by the database itself, also past rows that are gone.
    last = User.objects.latest("pk")
    last.sessions.all().delete()
    User.objects.filter(pk=last.pk).delete()
    assert register("next@example.com").json()["user"]["id"] > last.pk


def test_a_log_in_that_ran_out_is_over_whatever_its_tokens_say(olga):
    tokens = log_in(olga)
    olga.sessions.update(expires_at=timezone.now())
    assert not is_alive(tokens["token"])
    assert refresh(tokens["refreshToken"]).status_code == 401


def test_t39_a_wrong_current_password_is_an_error_of_its_field(olga, api, limits):
    """T39: A wrong current password is reported as an error of its field."""
    limits(login="3/hour")
    client = api(olga)
    url = f"/api/users/{olga.pk}/profile"
    before = everything_stored()
    answers = []
    for body in ({}, *({"currentPassword": f"wrong-{turn}"} for turn in range(5))):
        answers.append(client.put(url, {"newPassword": "five-blue-umbrellas", **body}))
    statuses = [answer.status_code for answer in answers]
    assert statuses[:2] == [400, 400]
    assert (
        set(answers[0].json()["errors"]) == set(answers[1].json()["errors"]) == {"currentPassword"}
    )
    assert statuses[-1] == 429
    assert 401 not in statuses
    now = everything_stored()
    assert {name: now[name] for name in ("users.User", "users.Session")} == {
        name: before[name] for name in ("users.User", "users.Session")
    }
