"""Whoever may not do something to an account is told so at once, also while the account is busy.

Else anybody could have the threads of the server wait for a row that somebody else has locked.
"""

from functools import partial

import pytest

from tests.factories import PASSWORD
from tests.locks import holding
from tests.splits.journey import fresh_email, sign_up


@pytest.mark.parametrize("what", ["update", "profile", "destroy", "destroy oneself"])
def test_who_may_not_change_an_account_does_not_wait_for_its_lock(server, http, what):
    owner, other = sign_up(http), sign_up(http)
    whole = {"name": "Olga Other", "email": fresh_email(), "password": PASSWORD}
    calls = {
        "update": partial(other.call, "PUT", f"/users/{owner.id}", whole),
        "profile": partial(other.call, "PUT", f"/users/{owner.id}/profile", {"name": "Olga"}),
        "destroy": partial(other.call, "DELETE", f"/users/{owner.id}"),
        "destroy oneself": partial(owner.call, "DELETE", f"/users/{owner.id}"),
    }
    with holding(server, "users_user", owner.id):
        response = calls[what]()
    assert (response.status_code, response.json()["code"]) == (403, "forbidden")
    assert still_there(owner)


def still_there(owner):
    return owner.done("GET", "/users/me")["name"] == "Tess Traveller"
