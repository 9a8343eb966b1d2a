"""Rows T17-T42: who one is, what a token is worth, and how slow guessing is."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import jwt
import pytest
from django.conf import settings
from django.contrib.auth.hashers import get_hasher
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.test import APIClient

from tests.conftest import Api
from tests.document import problem_of
from tests.factories import PASSWORD
from tests.security.environment import Environment, no_connections
from tests.server import Server, running_server
from tests.splits.journey import answers_at_once
from tests.stored import everything_stored
from tests.users.logins import bearer, is_alive, log_in, refresh, try_to_log_in
from tests.users.test_forged_tokens import (
    FORGERIES,
    KEY,
    assert_opens_nothing,
    b64,
    claims_of,
    raw_signed,
    signed,
    unsigned,
)
from tripcompanion import environment
from users.models import User
from users.scopes import Scope

KINDS = ("token", "refresh_token")
#: How often a wrong password is tried in series.
GUESSES = 60
HERE, THERE = {"REMOTE_ADDR": "192.0.2.1"}, {"REMOTE_ADDR": "192.0.2.2"}


def seconds_from_now(seconds: float) -> int:
    return int((timezone.now() + timedelta(seconds=seconds)).timestamp())


def register(email: str, password: str = PASSWORD, **more: Any) -> Response:
    headers = more.pop("headers", {})
    body = {"email": email, "password": password, **more}
    return APIClient().post("/api/users/register", body, **headers)


# -- Tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_t17_a_token_without_a_signature_opens_nothing(olga: User, kind: str) -> None:
    claims = claims_of(olga, kind)
    for algorithm in ("none", "NoNe", "NONE", "HS256"):
        assert_opens_nothing(unsigned(claims, algorithm), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_t18_a_token_of_another_key_or_algorithm_opens_nothing(olga: User, kind: str) -> None:
    claims = claims_of(olga, kind)
    for name in ("another key", "the key in another case", "another algorithm", "a claim changed"):
        assert_opens_nothing(FORGERIES[name](claims), kind)
    for algorithm in ("RS256", "ES256", "PS256", "HS384"):
        head = json.dumps({"alg": algorithm, "typ": "JWT"})
        good = signed(claims).split(".")
        assert_opens_nothing(f"{b64(head.encode())}.{good[1]}.{good[2]}", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_t19_a_token_is_good_from_its_first_second_to_its_last(olga: User, kind: str) -> None:
    claims = claims_of(olga, kind)
    for wrong in ({"nbf": seconds_from_now(60)}, {"iat": seconds_from_now(60)}):
        assert_opens_nothing(signed(claims | wrong), kind)
    without = {name: value for name, value in claims.items() if name != "exp"}
    assert_opens_nothing(raw_signed(json.dumps(without)), kind)
    over = signed(claims | {"exp": seconds_from_now(-1)})
    answer = bearer(over).get("/api/users/me") if kind == "token" else refresh(over)
    problem_of(answer, 401, "token_expired")
    long_over = claims | {"nbf": seconds_from_now(600), "iat": seconds_from_now(600)}
    assert_opens_nothing(signed(long_over), kind)
    soon = signed(claims | {"iat": seconds_from_now(5)})
    assert is_alive(soon) if kind == "token" else refresh(soon).status_code == 200


def test_t20_a_token_is_for_one_use_by_one_service(olga: User) -> None:
    tokens = log_in(olga)
    assert_opens_nothing(tokens["refreshToken"], "token")
    assert_opens_nothing(tokens["token"], "refresh_token")
    body = {"name": "script", "scopes": [scope.value for scope in Scope]}
    scoped = bearer(tokens["token"]).post("/api/users/me/tokens", body).json()["token"]
    assert bearer(scoped).get("/api/trips").status_code == 200
    assert_opens_nothing(scoped, "refresh_token")
    for path in ("me", "me/sessions", "me/tokens", str(olga.pk)):
        problem_of(bearer(scoped).get(f"/api/users/{path}"), 403, "insufficient_scope")
    for kind, claim in product(KINDS, ("aud", "iss", "token_type", "jti")):
        claims = claims_of(olga, kind)
        if claim != "jti":
            assert_opens_nothing(raw_signed(json.dumps(claims | {claim: "somebody"})), kind)
        del claims[claim]
        assert_opens_nothing(raw_signed(json.dumps(claims)), kind)


def test_t21_junk_under_the_right_key_is_401(olga: User) -> None:
    claims = claims_of(olga, "token")
    for name in ("sub", "sid"):
        for junk in ("abc", ["1"], "1\u0000", 2**63, -1, 1.5, True, {}, "9" * 400):
            assert_opens_nothing(raw_signed(json.dumps(claims | {name: junk})), "token")
    for number in ('"9999"', "1e20", "9" * 400, "-1", "true", "{}", "1e999"):
        text = json.dumps(claims | {"exp": "HERE"}).replace('"HERE"', number)
        assert bearer(raw_signed(text)).get("/api/users/me").status_code in {200, 401}
    for text in ("[]", "5", '"x"', "{", "", "\u0000"):
        assert_opens_nothing(raw_signed(text), "token")


def test_t22_what_the_header_of_a_token_says_leads_nowhere(olga: User) -> None:
    claims = claims_of(olga, "token")
    harmless = {
        "kid": "' or 1=1--",
        "jku": "http://127.0.0.1:9/keys",
        "x5u": "http://127.0.0.1:9/chain",
        "jwk": {"kty": "oct", "k": b64(b"k" * 32)},
    }
    with no_connections():
        for name, value in harmless.items():
            assert is_alive(jwt.encode(claims, KEY, "HS256", headers={name: value}))
            foreign = jwt.encode(claims, "k" * 32, "HS256", headers={name: value})
            assert_opens_nothing(foreign, "token")
        for critical in ({"crit": ["x"], "x": 1}, {"crit": ["b64"], "b64": False}):
            assert_opens_nothing(jwt.encode(claims, KEY, "HS256", headers=critical), "token")


def test_t23_a_token_is_read_from_one_header_only(olga: User) -> None:
    token = log_in(olga)["token"]
    client = APIClient()

    def status(**header: str) -> int:
        return client.get("/api/users/me", **header).status_code

    assert [status(HTTP_AUTHORIZATION=f"{scheme} {token}") for scheme in ("Bearer", "bearer")] == [
        200,
        200,
    ]
    for text in (
        *("", "Bearer", "Bearer ", token, f"Token {token}", f"Basic {token}", f"Bearer {token} x"),
        *(f"Bearer {'a' * 8000}", "Bearer \u00e9\u00e9.\u00e9.\u00e9", f"Bearer,{token}"),
    ):
        assert status(HTTP_AUTHORIZATION=text) == 401, text
    client.cookies["token"] = client.cookies["access"] = client.cookies["jwt"] = token
    for query in (f"?token={token}", f"?access_token={token}", f"?Authorization=Bearer+{token}"):
        assert client.get(f"/api/users/me{query}").status_code == 401
    body = {"title": "x", "token": token, "access_token": token}
    assert client.post("/api/trips", body).status_code == 401


# -- Accounts that are no more --------------------------------------------------------------------


def test_t24_a_deactivated_account_opens_nothing_and_logs_in_nowhere(
    environment: Environment,
) -> None:
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
    first = log_in(olga)
    second = refresh(first["refreshToken"]).json()
    assert refresh(first["refreshToken"]).status_code == 401
    assert refresh(second["refreshToken"]).status_code == 401
    assert not is_alive(second["token"])


def test_t30_an_address_that_is_given_up_leads_to_no_old_account(olga: User, api: Api) -> None:
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
    """The time of a log-in is that of one hash and of its queries, so both are counted."""
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


# -- Guessing -------------------------------------------------------------------------------------


def test_t34_guessing_is_slow_and_bars_the_owner_nowhere_else(olga: User, limits: Any) -> None:
    limits(login="10/min")
    answers = [try_to_log_in(olga.email, f"wrong-{turn}", **HERE) for turn in range(GUESSES)]
    statuses = [answer.status_code for answer in answers]
    # A window may end in between.
    assert statuses[:10] == [401] * 10
    assert statuses.count(401) <= 20
    assert all(int(a["Retry-After"]) >= 1 for a in answers if a.status_code == 429)
    assert try_to_log_in(olga.email, **THERE).status_code == 200


@pytest.mark.parametrize("header", ["X_FORWARDED_FOR", "X_REAL_IP", "FORWARDED"])
def test_t36_no_header_makes_another_address(olga: User, limits: Any, header: str) -> None:
    limits(login="10/hour")
    statuses = Counter(
        try_to_log_in(olga.email, "wrong-one", **{f"HTTP_{header}": f"192.0.2.{at}"}).status_code
        for at in range(20)
    )
    assert statuses == {401: 10, 429: 10}


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A server with limits, two processes and one proxy in front, which says who asks."""
    limits = {"THROTTLE_LOGIN": "10/day", "THROTTLE_LOGIN_ADDRESS": "30/day"}
    with running_server(NUM_PROXIES="1", THROTTLE_REGISTER="10/day", **limits) as server:
        yield server


def at_the_same_time(server: Server, path: str, bodies: list[Any], address: str) -> Counter[int]:
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        headers = {"X-Forwarded-For": address}
        calls = [lambda b=body: http.post(path, json=b, headers=headers) for body in bodies]
        return Counter(answer.status_code for answer in answers_at_once(calls))


def test_t35_no_more_guesses_pass_at_once_than_one_by_one(guarded: Server) -> None:
    guesses = [{"email": "olga@example.com", "password": f"wrong-{at}"} for at in range(GUESSES)]
    outcome = at_the_same_time(guarded, "/api/users/login", guesses, "192.0.2.35")
    assert outcome == {401: 10, 429: GUESSES - 10}


def test_t37_one_password_on_many_accounts_and_many_accounts_are_slow_too(guarded: Server) -> None:
    spraying = [{"email": f"n{at}@example.com", "password": "Password"} for at in range(50)]
    outcome = at_the_same_time(guarded, "/api/users/login", spraying, "192.0.2.37")
    assert outcome == {401: 30, 429: 20}
    signing_up = [{"email": f"m{at}@example.com", "password": PASSWORD} for at in range(15)]
    outcome = at_the_same_time(guarded, "/api/users/register", signing_up, "192.0.2.38")
    assert outcome == {201: 10, 429: 5}


# -- Passwords ------------------------------------------------------------------------------------


def test_t38_a_password_is_taken_exactly_as_it_is_typed(db: None) -> None:
    numbers = iter(range(1000))

    def made(password: str) -> int:
        return register(f"p{next(numbers)}@example.com", password).status_code

    assert [made(word) for word in ("1234567", "password", "12345678", "qwertyuiop")] == [400] * 4
    good = ("SecurePass123", "Password1!", "four words in a row", "x" * 128)
    assert [made(word) for word in good] == [201] * 4
    assert [made("x" * 129), made("x" * 900_000), made("nul\u0000nul-nul")] == [400] * 3
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


def test_t41_a_stale_token_bars_nobody_from_open_endpoints(olga: User) -> None:
    body = {"email": olga.email, "password": PASSWORD}
    for junk in ("Bearer x.y.z", "Bearer ", "nonsense", f"Bearer {unsigned({})}"):
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=junk)
        assert client.post("/api/users/login", body).status_code == 200
        assert client.post("/api/users/register", {}).status_code == 400
        for path in ("health", "health/ready", "docs"):
            assert client.get(f"/api/{path}").status_code == 200
    assert client.get("/api/schema").status_code == 200


def test_t42_no_published_key_signs_anything(olga: User) -> None:
    claims = claims_of(olga, "token")
    published = (
        *("secret", "changeme", "change-me" * 8, "your-256-bit-secret", "django-insecure-key" * 4),
        *("404E635266556A586E3272357538782F413F4428472B4B6250645367566B5970", "a" * 64),
    )
    for key in published:
        assert_opens_nothing(jwt.encode(claims, key.ljust(32), "HS256"), "token")
    for key in (*published[:5], "a" * 64, "", "x" * 31):
        with pytest.raises(SystemExit, match="JWT_SIGNING_KEY"):
            environment.strong("JWT_SIGNING_KEY", key)
    assert len(settings.SECRET_KEY) >= 32
