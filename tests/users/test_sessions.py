"""One's own log-ins: what is shown of each, and ending one or all of them."""

from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.exceptions import NotAuthenticated
from rest_framework.settings import api_settings
from rest_framework.test import APIClient

from tests.factories import PASSWORD, overwrite
from tests.scoped import script_of
from tests.splits.journey import Traveller, at_once, fresh_email, register
from tests.users.logins import bearer, is_alive, log_in, refresh, try_to_log_in
from users.models import Session, User

SESSIONS = "/api/users/me/sessions"
EVERYWHERE = "/api/users/me/logout-everywhere"
NOON = datetime(2026, 5, 14, 12, 0, 0, tzinfo=UTC)
LIFETIME = timedelta(seconds=settings.REFRESH_TOKEN_LIFETIME)
PARALLEL = 6
LETTERS = "abcdef00-6f0b-4a58-9b1c-3d2f5f1f3a77"


def sessions(pair):
    response = bearer(pair["token"]).get(SESSIONS)
    assert response.status_code == 200
    return response.json()["items"]


def own(pair):
    """The log-in of this very pair of tokens."""
    [row] = [row for row in sessions(pair) if row["current"]]
    return row


def end(pair, session_id):
    return bearer(pair["token"]).delete(f"{SESSIONS}/{session_id}")


def browser_of(user):
    browser = Client()
    browser.force_login(user)
    return browser


def test_a_log_in_is_shown_with_device_address_and_times(olga, clock):
    answer = try_to_log_in(
        olga.email, HTTP_USER_AGENT="Companion/2.1 (Android)", REMOTE_ADDR="203.0.113.7"
    )
    assert bearer(answer.json()["token"]).get(SESSIONS).json() == {
        "items": [
            {
                "id": str(Session.objects.get().pk),
                "device": "Companion/2.1 (Android)",
                "address": "203.0.113.7",
                "createdAt": "2026-05-14T12:00:00Z",
                "lastUsedAt": "2026-05-14T12:00:00Z",
                "expiresAt": (NOON + LIFETIME).isoformat().replace("+00:00", "Z"),
                "current": True,
            }
        ],
        "total": 1,
        "page": 1,
        "pageSize": 20,
        "totalPages": 1,
    }


@pytest.mark.django_db
def test_a_registration_is_a_log_in_with_a_device_too():
    body = {"email": "nina@example.com", "password": PASSWORD}
    answer = APIClient().post("/api/users/register", body, HTTP_USER_AGENT="Companion/2.1")
    assert own(answer.json())["device"] == "Companion/2.1"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("", ""),
        ("  Companion \t", "Companion"),
        ("x" * 500, "x" * 200),
        ("a\x1b[31mb\x07c\x9bd\x00e", "a[31mbcde"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("\t\x01", ""),
        ("x" * 199 + " y", "x" * 199),
    ],
)
def test_of_a_device_only_what_can_be_shown_is_kept(olga, sent, kept):
    assert own(try_to_log_in(olga.email, HTTP_USER_AGENT=sent).json())["device"] == kept


@pytest.mark.parametrize(
    ("proxies", "address"), [(0, "10.0.0.1"), (1, "198.51.100.9"), (2, "203.0.113.7")]
)
def test_the_address_is_read_as_many_proxies_back_as_there_are(olga, monkeypatch, proxies, address):
    monkeypatch.setattr(api_settings, "NUM_PROXIES", proxies)
    forwarded = "192.0.2.1, 203.0.113.7, 198.51.100.9"
    pair = try_to_log_in(olga.email, REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=forwarded).json()
    assert own(pair)["address"] == address


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [("192.0.2.1:52000", "192.0.2.1"), ("[2001:db8::1]:52000", "2001:db8::1")],
)
def test_a_port_that_a_proxy_adds_makes_no_other_client(
    olga, limits, monkeypatch, forwarded, address
):
    monkeypatch.setattr(api_settings, "NUM_PROXIES", 1)
    limits(login="1/min")
    pair = try_to_log_in(olga.email, HTTP_X_FORWARDED_FOR=forwarded).json()
    assert own(pair)["address"] == address
    again = try_to_log_in(olga.email, HTTP_X_FORWARDED_FOR=forwarded.replace("52000", "52001"))
    assert again.status_code == 429


def test_the_last_used_comes_first_and_dead_ones_are_not_shown(olga, ed, clock):
    log_in(ed)
    log_in(olga)  # and never used again: it expires
    clock.shift(LIFETIME - timedelta(days=1))
    first, second, third = (log_in(olga) for _number in range(3))
    ids = [own(pair)["id"] for pair in (first, second, third)]
    clock.shift(timedelta(hours=1))
    first = refresh(first["refreshToken"]).json()
    assert [row["id"] for row in sessions(first)][0] == ids[0]
    clock.shift(timedelta(days=2))
    first = refresh(first["refreshToken"]).json()
    assert {row["id"] for row in sessions(first)} == {*ids}
    end(first, ids[1])
    assert [row["id"] for row in sessions(first)] == [ids[0], ids[2]]


def test_a_browser_sees_the_log_ins_of_the_api_and_is_none_of_them(olga):
    log_in(olga)
    page = browser_of(olga).get(SESSIONS).json()
    assert [row["current"] for row in page["items"]] == [False]


def test_a_log_in_with_an_older_password_is_not_shown(olga):
    log_in(olga)
    overwrite(olga, password=make_password("five-yellow-umbrellas"))
    assert len(sessions(try_to_log_in(olga.email, "five-yellow-umbrellas").json())) == 1


# -- Ending one -------------------------------------------------------------------------------


def test_ending_one_kills_its_tokens_at_once_and_no_other(olga):
    here, phone, library = log_in(olga), log_in(olga), log_in(olga)
    response = end(here, own(phone)["id"])
    assert (response.status_code, response.content) == (204, b"")
    assert not is_alive(phone["token"])
    assert refresh(phone["refreshToken"]).status_code == 401
    assert is_alive(here["token"])
    assert is_alive(library["token"])


def test_foreign_unknown_ended_and_expired_ids_are_the_same_404(olga, ed):
    here, ended, of_ed = log_in(olga), log_in(olga), log_in(ed)
    expired = Session.start(olga)
    Session.objects.filter(pk=expired.pk).update(expires_at=NOON - timedelta(days=9999))
    ended_id, eds_id = own(ended)["id"], own(of_ed)["id"]
    end(here, ended_id)
    answers = [end(here, each) for each in (eds_id, uuid4(), ended_id, expired.pk)]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert is_alive(of_ed["token"])


@pytest.mark.parametrize(
    "spelt", [str.upper, lambda text: text.replace("-", ""), lambda text: "{" + text + "}"]
)
def test_an_id_has_one_spelling(olga, spelt):
    pair = log_in(olga)
    Session.objects.filter(pk=Session.start(olga).pk).update(id=LETTERS)
    assert end(pair, spelt(LETTERS)).status_code == 404
    assert end(pair, LETTERS).status_code == 204


def test_of_simultaneous_ends_one_wins(http):
    email = fresh_email()
    login = register(http, email).json()
    here = Traveller(http, login["user"]["id"], {"Authorization": f"Bearer {login['token']}"})
    for _round in range(3):
        http.post("/api/users/login", json={"email": email, "password": PASSWORD})
        items = here.done("GET", "/users/me/sessions")["items"]
        other = next(row["id"] for row in items if not row["current"])
        outcome = at_once([partial(here.call, "DELETE", f"/users/me/sessions/{other}")] * PARALLEL)
        assert outcome == {(204, ""): 1, (404, "not_found"): PARALLEL - 1}


# -- Ending all -------------------------------------------------------------------------------


def test_logging_out_everywhere_ends_every_log_in_in_the_api_and_in_browsers(olga, ed):
    pairs, browser, of_ed = [log_in(olga), log_in(olga)], browser_of(olga), log_in(ed)
    assert browser.get("/api/users/me").status_code == 200
    response = bearer(pairs[0]["token"]).post(EVERYWHERE)
    assert (response.status_code, response.content) == (204, b"")
    for pair in pairs:
        assert not is_alive(pair["token"])
        assert refresh(pair["refreshToken"]).status_code == 401
    assert browser.get("/api/users/me").status_code == 401
    assert not Session.objects.filter(user=olga).active().exists()
    assert is_alive(of_ed["token"])
    assert is_alive(log_in(olga)["token"])


def test_logging_out_everywhere_leaves_scoped_tokens_alone(api, olga):
    script = script_of(olga, "trips:read")
    api(olga).post(EVERYWHERE)
    assert bearer(script.token).get("/api/trips").status_code == 200


def test_a_browser_can_log_out_everywhere_with_the_token_of_its_page(olga):
    pair, browser = log_in(olga), Client(enforce_csrf_checks=True)
    browser.force_login(olga)
    assert browser.post(EVERYWHERE).json()["code"] == "csrf_failed"
    assert is_alive(pair["token"])
    browser.cookies["csrftoken"] = "a" * 32
    assert (
        browser.post(
            EVERYWHERE, content_type="application/json", headers={"X-CSRFToken": "a" * 32}
        ).status_code
        == 204
    )
    assert not is_alive(pair["token"])


def test_a_log_in_that_began_before_is_refused_if_it_would_be_written_after(olga):
    """The password was right, and then somebody else ended all: their word counts."""
    late = User.objects.get(pk=olga.pk)
    olga.log_out_everywhere(by=None)
    with pytest.raises(NotAuthenticated):
        Session.start(late)
    assert not Session.objects.filter(user=olga).exists()


def test_barring_after_logging_out_everywhere_ends_the_browser_too(olga):
    stale = User.objects.get(pk=olga.pk)
    olga.log_out_everywhere(by=None)
    browser = browser_of(olga)
    stale.deactivate(by=None)
    User.objects.filter(pk=olga.pk).update(is_active=True)
    assert browser.get("/api/users/me").status_code == 401


# -- Noting the use ---------------------------------------------------------------------------


def test_a_use_is_noted_once_in_ten_minutes_and_writes_nothing_between(olga, clock):
    client = bearer(log_in(olga)["token"])
    noted = []
    for minutes in (0, 9, 1, 5, 5):
        clock.shift(timedelta(minutes=minutes))
        with CaptureQueriesContext(connection) as captured:
            client.get("/api/users/me")
        noted.append(len(captured))
    assert noted == [1, 1, 2, 1, 2]
    assert Session.objects.get().used_at == NOON + timedelta(minutes=20)


def test_refreshing_notes_the_use(olga, clock):
    pair = log_in(olga)
    clock.shift(timedelta(minutes=1))
    pair = refresh(pair["refreshToken"]).json()
    assert own(pair)["lastUsedAt"] == "2026-05-14T12:01:00Z"


def test_a_refused_token_notes_nothing(olga, clock):
    pair = log_in(olga)
    Session.objects.update(ended_at=NOON)
    clock.shift(timedelta(minutes=30))
    assert not is_alive(pair["token"])
    assert Session.objects.get().used_at == NOON


# -- Log-out ----------------------------------------------------------------------------------


def log_out(refresh_token):
    return APIClient().post("/api/users/logout", {"refreshToken": refresh_token}).status_code


def test_logging_out_kills_the_access_and_the_refresh_token_at_once(olga):
    """T27: Logging out ends the session at once."""
    pair = log_in(olga)
    assert log_out(pair["refreshToken"]) == 204
    assert not is_alive(pair["token"])
    assert refresh(pair["refreshToken"]).status_code == 401


def test_other_log_ins_live_on(olga, ed):
    here, elsewhere, of_ed = log_in(olga), log_in(olga), log_in(ed)
    log_out(here["refreshToken"])
    assert is_alive(elsewhere["token"])
    assert refresh(elsewhere["refreshToken"]).status_code == 200
    assert is_alive(of_ed["token"])


def test_logging_out_may_be_repeated(olga):
    pair = log_in(olga)
    assert [log_out(pair["refreshToken"]) for _time in range(3)] == [204, 204, 204]
    assert not is_alive(pair["token"])
    header, payload, signature = pair["refreshToken"].split(".")
    assert log_out(f"{header}.{payload}.{signature[::-1]}") == 401
    assert log_out(pair["token"]) == 401


def test_logging_out_again_keeps_the_instant_of_the_first_time(olga, clock):
    pair = log_in(olga)
    log_out(pair["refreshToken"])
    clock.shift(timedelta(hours=1))
    log_out(pair["refreshToken"])
    assert Session.objects.get().ended_at == NOON


def test_an_expired_token_logs_nobody_out(olga, clock):
    pair = log_in(olga)
    newer = refresh(pair["refreshToken"]).json()
    clock.shift(LIFETIME - timedelta(hours=1))
    newer = refresh(newer["refreshToken"]).json()
    clock.shift(timedelta(hours=2))
    assert log_out(pair["refreshToken"]) == 401
    assert refresh(newer["refreshToken"]).status_code == 200
