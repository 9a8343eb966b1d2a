"""Rate limits: whom they count for, what a refusal says, and that a header does not dodge them."""

from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from splits.models import Expense
from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory, spend
from tests.users.logins import bearer, log_in, refresh, try_to_log_in
from tripcompanion.database.models import ThrottleCounter
from users.mail_templates import MailTemplate
from users.models import Mail, User

pytestmark = pytest.mark.either


NOON = datetime(2026, 5, 14, 12, 0, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock():
    """Stands still at 20 seconds past noon, so that no test straddles two windows."""
    with time_machine.travel(NOON.replace(second=20), tick=False) as traveller:
        yield traveller


def statuses(call, times):
    return [call().status_code for _turn in range(times)]


def assert_throttled(response):
    assert problem_of(response, 429, "throttled")["title"] == "Too Many Requests"
    assert int(response["Retry-After"]) >= 1


def test_a_refusal_says_when_to_come_back(limits, olga, clock):
    """T61: A throttled response states when to retry, and a retry then succeeds."""
    limits(login="2/min")
    assert statuses(lambda: try_to_log_in("olga@example.com"), 2) == [200, 200]
    response = try_to_log_in("olga@example.com")
    assert_throttled(response)
    assert response["Retry-After"] == "40"
    assert response["RateLimit-Policy"] == '"login";q=2;w=60'
    assert response["RateLimit"].startswith('"login";r=0;t=')
    clock.move_to(NOON.replace(second=59, microsecond=900_000))
    assert try_to_log_in("olga@example.com")["Retry-After"] == "1"
    clock.move_to(NOON.replace(minute=1))
    assert try_to_log_in("olga@example.com").status_code == 200


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.7", "192.0.2.7", True),
        ("::ffff:192.0.2.7", "192.0.2.8", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_a_client_is_an_ipv4_address_or_a_network_of_ipv6(limits, olga, one, other, is_one):
    limits(login_address="1/min")
    assert try_to_log_in(olga.email, REMOTE_ADDR=one).status_code == 200
    assert try_to_log_in(olga.email, REMOTE_ADDR=other).status_code == (429 if is_one else 200)


def test_a_refused_request_costs_neither_a_row_nor_a_body(limits, olga):
    """T197: A request beyond a limit writes no row, and its body is not read."""
    limits(login_address="1/min", login="5/min")
    assert try_to_log_in(olga.email).status_code == 200
    assert try_to_log_in(olga.email).status_code == 429
    counted = list(ThrottleCounter.objects.order_by("key").values())
    with CaptureQueriesContext(connection) as statements:
        assert try_to_log_in(olga.email).status_code == 429
    assert [row["sql"] for row in statements] == []
    assert list(ThrottleCounter.objects.order_by("key").values()) == counted
    # Its body is no JSON, and it was not read.
    broken = APIClient().post("/api/users/login", b"{", content_type="application/json")
    assert broken.status_code == 429


@pytest.mark.parametrize("path", ["login", "register", "token/refresh", "password-reset"])
def test_a_body_that_everybody_may_send_is_short(path, db):
    body = b'{"email": "%s"}' % (b"a" * 16 * 1024)
    refused = APIClient().post(f"/api/users/{path}", body, content_type="application/json")
    assert problem_of(refused, 413)["detail"] == "The body is larger than 16384 bytes."


@pytest.mark.parametrize("path", ["/admin/login/", "/admin/", "/api/session/login", "/api/trips"])
def test_a_form_of_a_stranger_is_short(path, db, ada):
    form = {"password": "a" * 16 * 1024}
    client = Client()
    client.cookies.load({"sessionid": "made-up", "csrftoken": "made-up"})
    for content_type in (MULTIPART_CONTENT, "application/x-www-form-urlencoded"):
        body = form if content_type == MULTIPART_CONTENT else urlencode(form)
        refused = client.post(path, body, content_type=content_type)
        assert problem_of(refused, 413)["detail"] == "The body is larger than 16384 bytes."
    client.force_login(ada)
    assert client.post(path, form).status_code != 413


def test_a_large_response_counts_as_several(api, limits, trip, olga):
    limits(user="10/min")
    client, path = api(olga), f"/api/trips/{trip.pk}/expenses?pageSize=100"
    for number in range(100):
        dinner = spend(trip, 1000, paid_by=olga, among=[olga])
        Expense.objects.filter(pk=dinner.pk).update(notes=f"{number}" + "x" * 2000)
    costs = 1 + len(client.get(path).content) // (64 * 1024)
    assert costs >= 4
    assert client.get("/api/trips")["RateLimit"].startswith(f'"user";r={10 - costs - 1};')


@pytest.mark.parametrize(("address", "is_free"), [("127.0.0.1", True), ("192.0.2.1", False)])
def test_in_development_calls_from_the_same_machine_are_free_unless_a_limit_is_set(
    limits, olga, settings, monkeypatch, address, is_free
):
    limits(login="1/min")
    settings.DEBUG = True
    tries = [try_to_log_in(olga.email, REMOTE_ADDR=address).status_code for _try in range(3)]
    assert tries == ([200, 200, 200] if is_free else [200, 429, 429])
    monkeypatch.setenv("THROTTLE_LOGIN", "1/min")
    last = [try_to_log_in(olga.email, REMOTE_ADDR=address).status_code for _try in range(2)]
    assert last[-1] == 429


def test_right_and_wrong_log_ins_count_alike(limits, olga):
    limits(login="3/min")
    passwords = ["wrong-one", PASSWORD, "wrong-two", PASSWORD, "wrong-three"]
    answers = [try_to_log_in("olga@example.com", word).status_code for word in passwords]
    assert answers == [401, 200, 401, 429, 429]


#: Spellings by which the account of `olga@bücher.example` is found.
SPELLINGS = (
    *("olga@bücher.example", "OLGA@BÜCHER.EXAMPLE", "olga@xn--bcher-kva.example"),
    *("olga@ｂücher.example", "olga@ＢÜＣＨＥＲ.ＥＸＡＭＰＬＥ", "olga@bu\u0308cher.example"),
    " Olga@XN--BCHER-KVA.example ",
)


@pytest.fixture
def with_umlaut(db):
    """An account whose address has a domain with another form in ASCII (IDNA)."""
    return UserFactory(email="olga@bücher.example")


def test_all_spellings_of_a_domain_are_one_account_at_the_log_in(limits, with_umlaut):
    limits(login="3/min")
    tries = [try_to_log_in(spelling, "wrong-one").status_code for spelling in SPELLINGS]
    assert tries == [401] * 3 + [429] * (len(SPELLINGS) - 3)


@pytest.mark.parametrize("path", ["/admin/login/", "/api/session/login"])
def test_a_form_counts_all_spellings_together_with_the_log_in_by_the_api(limits, with_umlaut, path):
    limits(login="2/min")
    first, second, *others = SPELLINGS
    try_to_log_in(first, "wrong-one")
    form = {"username": second, "password": "wrong-one"}
    assert "Too many attempts" not in Client().post(path, form).content.decode()
    for spelling in others:
        page = Client().post(path, {**form, "username": spelling})
        assert page.status_code == (200 if path.startswith("/admin") else 429)
        assert "Too many attempts" in page.content.decode(), spelling


def test_all_spellings_of_a_domain_get_their_mails_from_one_limit(limits, with_umlaut):
    """T135: All spellings of an e-mail address share one throttle."""
    limits(mail="2/hour")

    def ask(at):
        body = {"email": SPELLINGS[at]}
        here = {"REMOTE_ADDR": f"192.0.2.{at}"}
        return APIClient().post("/api/users/password-reset", body, **here).status_code

    answers = [ask(at) for at in range(len(SPELLINGS))]
    assert answers == [202] * 2 + [429] * (len(SPELLINGS) - 2)
    assert Mail.objects.filter(letter=MailTemplate.RESET).count() == 2


def test_a_mail_for_whoever_is_logged_in_and_one_by_another_spelling_count_together(
    api, limits, with_umlaut
):
    limits(mail="1/hour")
    assert api(with_umlaut).post("/api/users/me/verify-email").status_code == 202
    body = {"email": SPELLINGS[4]}
    assert_throttled(APIClient().post("/api/users/password-reset", body, REMOTE_ADDR="192.0.2.9"))


def test_changes_of_address_and_password_are_counted_together_because_mails_tell_of_them(
    limits, olga, ed
):
    client, path = bearer(log_in(olga)["token"]), f"/api/users/{olga.pk}"
    limits(mail="3/hour")
    whole = {"name": "Olga", "email": "new@example.com", "password": PASSWORD}
    assert client.put(path, whole).status_code == 200
    assert client.put(path, {**whole, "password": "another-one-1"}).status_code == 200
    problem_of(client.put(f"{path}/profile", {"email": ed.email}), 409, "email_taken")
    assert_throttled(client.put(f"{path}/profile", {"email": ed.email}))
    assert_throttled(client.put(path, {**whole, "password": "another-one-2"}))
    same = {**whole, "name": "Olga again", "password": "another-one-1"}
    assert client.put(path, same).status_code == 200
    told = Mail.objects.exclude(letter=MailTemplate.VERIFY).values_list("letter", flat=True)
    assert sorted(told) == ["EMAIL_CHANGED", "PASSWORD_CHANGED"]


def test_one_s_own_password_is_asked_for_within_the_limit_of_every_spelling(
    api, limits, with_umlaut
):
    limits(login="1/min")
    client = api(with_umlaut)
    try_to_log_in(SPELLINGS[4], "wrong-one")
    assert_throttled(client.delete("/api/users/me", {"password": PASSWORD}))


def test_what_is_no_address_is_counted_as_it_was_typed(limits, db):
    limits(login="1/min")
    tries = [try_to_log_in(text).status_code for text in ("olga", "OLGA ", "ed", "a@b@c", "A@B@C")]
    assert tries == [401, 429, 401, 401, 429]


def test_log_ins_are_counted_by_account_and_by_address(limits, olga, ed):
    """T34: Guessing passwords is slow and does not lock the owner out elsewhere."""
    limits(login="1/min")
    here, there = {"REMOTE_ADDR": "192.0.2.1"}, {"REMOTE_ADDR": "192.0.2.2"}
    assert try_to_log_in("olga@example.com", **here).status_code == 200
    assert_throttled(try_to_log_in("olga@example.com", **here))
    assert try_to_log_in("ed@example.com", **here).status_code == 200
    assert try_to_log_in("olga@example.com", **there).status_code == 200


@pytest.mark.parametrize("email", [None, 12, [], {}, "", "x" * 5000])
def test_a_body_without_an_address_is_counted_and_breaks_nothing(limits, db, email):
    limits(login="1/min")
    assert try_to_log_in(email).status_code == 400
    assert_throttled(try_to_log_in(email))


def test_a_body_that_is_no_json_is_a_400_with_limits_on(limits, db):
    limits(login="5/min")
    response = APIClient().post("/api/users/login", b"{", content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (400, "malformed_json")


@pytest.mark.parametrize(
    "header", ["HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_FORWARDED", "HTTP_CLIENT_IP"]
)
def test_a_client_cannot_name_its_own_address(limits, olga, header):
    """T36: No header can change the client's address."""
    limits(login="1/min")
    assert try_to_log_in("olga@example.com", **{header: "192.0.2.1"}).status_code == 200
    assert_throttled(try_to_log_in("olga@example.com", **{header: "192.0.2.2"}))


def test_registrations_are_counted_by_address(limits, db):
    limits(register="2/hour")

    def register(at, address):
        body = {"email": f"nina{at}@example.com", "password": PASSWORD}
        return APIClient().post("/api/users/register", body, REMOTE_ADDR=address)

    assert register(1, "192.0.2.1").status_code == 201
    assert register(2, "192.0.2.1").status_code == 201
    assert_throttled(register(3, "192.0.2.1"))
    assert register(3, "192.0.2.2").status_code == 201
    assert not User.objects.filter(email="nina4@example.com").exists()


def test_refreshes_are_counted(limits, db):
    limits(refresh="2/hour")
    assert statuses(lambda: refresh("a.b.c"), 2) == [401, 401]
    assert_throttled(refresh("a.b.c"))


def test_look_ups_are_counted_by_user_not_by_address(api, limits, olga, ed):
    limits(lookup="2/hour")
    path = "users/email/olga@example.com"
    client = api(olga)
    first = [client.get(f"/api/{path}", REMOTE_ADDR=f"192.0.2.{at}") for at in range(3)]
    assert {response.status_code for response in first[:2]} <= {200, 404}
    assert_throttled(first[2])
    assert api(ed).get(f"/api/{path}").status_code != 429
    assert client.get("/api/users/me").status_code == 200


def test_all_requests_of_a_user_are_counted_together(api, limits, trip, olga, ed):
    limits(user="4/min")
    phone, laptop = api(olga), api(olga)
    paths = ["users/me", "trips", f"trips/{trip.pk}", f"trips/{trip.pk}/balances"]
    assert {phone.get(f"/api/{path}").status_code for path in paths} == {200}
    assert_throttled(laptop.get("/api/users/me"))
    assert api(ed).get("/api/users/me").status_code == 200


def test_requests_without_a_log_in_are_counted_by_address(limits, db):
    limits(anon="2/min")
    client = APIClient()

    def read(address):
        return client.get("/api/schema", REMOTE_ADDR=address)

    assert statuses(lambda: read("192.0.2.1"), 2) == [200, 200]
    assert_throttled(read("192.0.2.1"))
    assert read("192.0.2.2").status_code == 200


def test_health_is_never_throttled(limits, db):
    limits(anon="1/day", user="1/day")
    client = APIClient()
    assert statuses(lambda: client.get("/api/health"), 3) == [200] * 3
    assert statuses(lambda: client.get("/api/health/ready"), 3) == [200] * 3


def test_a_limit_that_is_switched_off_refuses_nobody(limits, db):
    limits(login=None)
    email = UserFactory().email
    assert statuses(lambda: try_to_log_in(email), 12) == [200] * 12
