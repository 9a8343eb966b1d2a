"""Rows T24-T33 and T38-T40: who one is, by a log-in, an address and a password."""

import unicodedata
from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.hashers import get_hasher
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.test import APIClient

from tests.cast import Api
from tests.document import problem_of
from tests.factories import PASSWORD
from tests.security.environment import Environment
from tests.stored import everything_stored
from tests.users.logins import bearer, is_alive, log_in, refresh, try_to_log_in
from tests.users.test_forged_tokens import assert_opens_nothing
from users.models import User

pytestmark = pytest.mark.either


def register(email: str, password: str = PASSWORD, **more: Any) -> Response:
    headers = more.pop("headers", {})
    body = {"email": email, "password": password, **more}
    return APIClient().post("/api/users/register", body, **headers)


# -- Accounts that are no more --------------------------------------------------------------------


def test_t24_a_deactivated_account_opens_nothing_and_logs_in_nowhere(
    environment: Environment,
) -> None:
    """T24: A deactivated account has no access and cannot log in."""
    for url in (
        "/api/users/me",
        "/api/trips",
        environment.url,
        environment.dinner_url,
        environment.eds_url,
    ):
        answer = environment.ask(environment.dora, "GET", url)
        assert problem_of(answer, 401, "token_invalid")["message"] == "The token is not valid."
    right, wrong = try_to_log_in("dora@example.com"), try_to_log_in("dora@example.com", "no-such")
    assert right.status_code == 401
    assert right.json() | {"requestId": ""} == wrong.json() | {"requestId": ""}


def test_t25_a_deleted_account_opens_nothing_and_its_id_is_not_given_again(
    environment: Environment,
) -> None:
    """T25: A deleted account has no access, and its id is not reused."""
    tokens = log_in(environment.vera)
    assert (
        environment.ask(environment.ada, "DELETE", f"/api/users/{environment.vera.pk}").status_code
        == 204
    )
    assert_opens_nothing(tokens["token"], "token")
    assert_opens_nothing(tokens["refreshToken"], "refresh_token")
    newcomer = register("vera@example.com").json()["user"]["id"]
    assert newcomer not in {user.pk for user in (*environment.cast.values(), environment.dora)}
    # Ids are counted by the database itself, also past rows that are gone.
    last = User.objects.latest("pk")
    last.sessions.all().delete()
    User.objects.filter(pk=last.pk).delete()
    assert register("next@example.com").json()["user"]["id"] > last.pk


def test_t26_a_changed_password_ends_every_other_log_in(olga: User) -> None:
    """T26: Changing the password ends all other sessions."""
    mine, phone, laptop = (log_in(olga) for _device in range(3))
    new = "five-blue-umbrellas"
    body = {"currentPassword": PASSWORD, "newPassword": new}
    client = bearer(mine["token"])
    assert client.put(f"/api/users/{olga.pk}/profile", body).status_code == 200
    assert is_alive(mine["token"])
    for other in (phone, laptop):
        assert not is_alive(other["token"])
        assert refresh(other["refreshToken"]).status_code == 401
    assert [try_to_log_in(olga.email, word).status_code for word in (PASSWORD, new)] == [401, 200]


def test_t27_logging_out_ends_a_log_in_at_once(olga: User) -> None:
    """T27: Logging out ends the session at once."""
    phone, laptop = log_in(olga), log_in(olga)
    body = {"refreshToken": phone["refreshToken"]}
    assert APIClient().post("/api/users/logout", body).status_code == 204
    assert [is_alive(pair["token"]) for pair in (phone, laptop)] == [False, True]
    assert refresh(phone["refreshToken"]).status_code == 401
    tablet = log_in(olga)
    everywhere = "/api/users/me/logout-everywhere"
    assert bearer(tablet["token"]).post(everywhere).status_code == 204
    for pair in (laptop, tablet):
        assert not is_alive(pair["token"])
        assert refresh(pair["refreshToken"]).status_code == 401


def test_a_log_in_that_ran_out_is_over_whatever_its_tokens_say(olga: User) -> None:
    tokens = log_in(olga)
    olga.sessions.update(expires_at=timezone.now())
    assert not is_alive(tokens["token"])
    assert refresh(tokens["refreshToken"]).status_code == 401


def test_t28_a_refresh_token_is_good_once_and_its_reuse_ends_the_family(olga: User) -> None:
    """T28: A refresh token works once; reusing it ends the session."""
    first = log_in(olga)
    second = refresh(first["refreshToken"]).json()
    assert refresh(first["refreshToken"]).status_code == 401
    assert refresh(second["refreshToken"]).status_code == 401
    assert not is_alive(second["token"])


def test_t30_an_address_that_is_given_up_leads_to_no_old_account(olga: User, api: Api) -> None:
    """T30: An e-mail address that its owner gave up does not lead to the old account."""
    client = api(olga)
    moved = client.put(f"/api/users/{olga.pk}/profile", {"email": "olga@elsewhere.example"})
    assert moved.status_code == 200
    newcomer = register("olga@example.com").json()
    assert newcomer["user"]["id"] != olga.pk
    assert client.get("/api/users/me").json()["id"] == olga.pk
    assert log_in(User.objects.get(pk=newcomer["user"]["id"]))["user"]["id"] != olga.pk


def test_t31_every_refused_log_in_looks_and_costs_the_same(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T31: Every rejected login has the same response and the same cost.

    The time of a log-in is that of one hash and of its queries, so both are counted.
    """
    hashed: list[str] = []
    hasher = type(get_hasher())
    for name in ("encode", "verify"):
        original = getattr(hasher, name)

        def counted(self: Any, password: str, *rest: str, original: Any = original) -> Any:
            hashed.append(password)
            return original(self, password, *rest)

        monkeypatch.setattr(hasher, name, counted)
    seen = Counter()
    for email in ("nobody@example.com", "olga@example.com", "dora@example.com"):
        hashed.clear()
        with CaptureQueriesContext(connection) as queries:
            body = {"email": email, "password": "not-the-password"}
            answer = environment.ask(None, "POST", "/api/users/login", body)
        seen[answer.status_code, answer.content, len(hashed), len(queries)] += 1
    [((status, _content, hashes, _queries), times)] = seen.items()
    assert (status, hashes, times) == (401, 1, 3)


# -- Addresses ------------------------------------------------------------------------------------


def test_t32_an_address_is_taken_in_every_spelling(olga: User) -> None:
    """T32: E-mail addresses are unique in all their spellings."""
    for email in (
        "olga@example.com",
        "OLGA@EXAMPLE.COM",
        "  olga@example.com  ",
        "Olga@Example.Com",
    ):
        problem_of(register(email), 409, "email_taken")
    assert User.objects.filter(email_key="olga@example.com").count() == 1


def test_t33_the_look_up_by_address_is_exact_and_for_users(
    environment: Environment, limits: Any
) -> None:
    """T33: The lookup by e-mail address needs an exact match and authentication."""

    def look_up(email: str, user: User | None = environment.sam) -> Response:
        return environment.ask(user, "GET", f"/api/users/email/{email}")

    assert look_up("olga@example.com", None).status_code == 401
    found = look_up("olga@example.com")
    assert found.json()["id"] == environment.olga.pk
    shown = {name for name, value in found.json().items() if value is not None}
    assert shown == {"id", "name", "email"}
    nobody = look_up("nobody@example.com")
    for email in ("dora@example.com", "%25", "_lga@example.com", "*", "olga@", "olga", "olga%25"):
        answer = look_up(email)
        assert (answer.status_code, answer.content) == (404, nobody.content)
    limits(lookup="60/hour")
    statuses = [look_up(f"nobody{turn}@example.com").status_code for turn in range(62)]
    assert statuses == [404] * 60 + [429] * 2


def test_t40_addresses_that_fold_into_one_another_are_refused(olga: User) -> None:
    """T40: Addresses that look alike after normalisation are rejected."""
    for email in ("mi\u212ae@x.com", "\u017fam@x.com", "\u0130@x.com", "m\u0131ke@x.com"):
        assert "email" in problem_of(register(email), 400, "invalid")["errors"]
    assert register("a@M\u00dcNCHEN.de").status_code == 201
    for email in ("a@m\u00fcnchen.de", "a@xn--mnchen-3ya.de"):
        problem_of(register(email), 409, "email_taken")
    assert register("a@x.com").status_code == 201
    for email in ("A@X.com", "a@x.com\n"):
        problem_of(register(email), 409, "email_taken")
    problem_of(register(f"{'a' * 250}@x.com"), 400, "invalid")
    assert register("a@intranet").status_code == 201


# -- Passwords ------------------------------------------------------------------------------------


def test_t38_a_password_is_taken_exactly_as_it_is_typed(db: None) -> None:
    """T38: A password is used exactly as it is typed."""
    numbers = iter(range(1000))

    def made(password: str) -> int:
        return register(f"p{next(numbers)}@example.com", password).status_code

    assert [made(word) for word in ("1234567", "password", "12345678", "qwertyuiop")] == [400] * 4
    good = ("SecurePass123", "Password1!", "four words in a row", "x" * 128)
    assert [made(word) for word in good] == [201] * 4
    assert [made("x" * 129), made("x" * 10_000), made("nul\u0000nul-nul")] == [400] * 3
    base = "b" * 72
    assert register("long@example.com", base + "1" * 28).status_code == 201
    assert try_to_log_in("long@example.com", base + "2" * 28).status_code == 401
    for at, word in enumerate(
        ("  blanks around  ", unicodedata.normalize("NFC", "señorita ñandú"))
    ):
        email = f"exact{at}@example.com"
        assert register(email, word).status_code == 201
        assert try_to_log_in(email, word).status_code == 200
        assert try_to_log_in(email, word.strip() + "x").status_code == 401
    # Composed and decomposed letters are different passwords: nothing is normalised.
    assert try_to_log_in("exact0@example.com", "blanks around").status_code == 401
    decomposed = unicodedata.normalize("NFD", "señorita ñandú")
    assert try_to_log_in("exact1@example.com", decomposed).status_code == 401


def test_t39_a_wrong_current_password_is_an_error_of_its_field(
    olga: User, api: Api, limits: Any
) -> None:
    """T39: A wrong current password is reported as an error of its field."""
    limits(user="30/hour", login="30/hour")
    client = api(olga)
    url = f"/api/users/{olga.pk}/profile"
    before = everything_stored()
    answers = []
    for body in ({}, *({"currentPassword": f"wrong-{turn}"} for turn in range(34))):
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
