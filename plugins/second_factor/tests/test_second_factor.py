"""The second factor of administrators: set up, asked for, refused, lost and reset."""

import re
from base64 import b32decode
from io import StringIO

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, modify_settings
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from rest_framework.exceptions import NotAuthenticated

from plugins.second_factor.models import AuthenticatorApp
from tests.factories import PASSWORD
from tests.users.logins import bearer, log_in
from trips.deletion import delete_account
from users.models import ScopedToken, User

pytestmark = pytest.mark.once

PAGE, SET_UP, CODE, TURN_OFF, NEW_CODES = (
    f"/admin/second-factor/{name}"
    for name in ("", "set-up/", "code/", "turn-off/", "recovery-codes/")
)
LOG_INS = ("/admin/login/", "/api/session/login")
WRONG = "The code is wrong, or has been used already."
WAIT = "Too many attempts. Please wait a moment."
HALF_A_MINUTE = 30


class Browser:
    """A browser, and the authenticator app and the recovery codes of who uses it."""

    def __init__(self, user):
        self.client, self.user = Client(), user
        self.seed, self.codes = b"", list[str]()

    def password(self, path=LOG_INS[0], **query):
        """Log in with the password, and follow to the page that comes then."""
        form = {"username": self.user.email, "password": PASSWORD, "next": "/admin/", **query}
        return self.client.post(path, form, follow=True)

    def log_in(self):
        """Be where the right password leads, without the time that it takes to check it."""
        self.user.refresh_from_db()
        self.client.force_login(self.user)

    def set_up(self, code="", password=PASSWORD):
        """Scan the picture, enter what the app shows, and note the recovery codes."""
        page = text(self.client.get(SET_UP))
        self.seed = b32decode(re.search(r"<code>([A-Z2-7 ]{32,})</code>", page)[1].replace(" ", ""))
        answer = self.client.post(SET_UP, {"code": code or self.shown(), "password": password})
        self.codes = re.findall(r"<li><code>([0-9-]{13,})</code></li>", text(answer))
        return answer

    def shown(self):
        """What the app shows now; it knows the seed and the time, and nothing of the service."""
        return f"{TOTP(self.seed).token():06}"

    def code(self, code, **query):
        return self.client.post(CODE, {"code": code, **query})

    def is_inside(self):
        """Whether the admin site, and the browsable API, know who this is; both or neither."""
        answers = (self.client.get(PAGE), self.client.get("/api/users/me"))
        assert [answer.status_code for answer in answers] in ([200, 200], [302, 401])
        return answers[0].status_code == 200


@pytest.fixture
def browser(ada, clock):
    """Ada's browser, logged in with an app; the clock has moved on to the app's next code."""
    browser = Browser(ada)
    browser.log_in()
    assert browser.set_up().status_code == 200
    clock.shift(HALF_A_MINUTE)
    return browser


def text(page):
    return page.content.decode()


def messages_of(ada):
    entries = LogEntry.objects.filter(object_id=str(ada.pk)).order_by("pk")
    assert {entry.object_repr for entry in entries} <= {f"#{ada.pk}"}
    return [entry.get_change_message() for entry in entries]


@pytest.mark.parametrize("path", LOG_INS)
def test_a_log_in_asks_for_the_code_and_leads_to_where_it_was_going(browser, ada, path):
    again = Browser(ada)
    asked = again.password(path, next="/api/users/me")
    assert asked.request["PATH_INFO"] == CODE
    assert 'autocomplete="one-time-code"' in text(asked)
    assert 'inputmode="numeric"' in text(asked)
    assert not again.is_inside()
    right = again.code(browser.shown(), next="/api/users/me")
    assert (right.status_code, right.headers["Location"]) == (302, "/api/users/me")
    assert again.is_inside()
    assert again.client.get(CODE).headers["Location"] == "/admin/"


def test_a_password_alone_opens_nothing(browser, ada, trip):
    """T144: With a second factor, the password alone gives no access to the admin site."""
    half = Browser(ada)
    half.log_in()
    for path in ("/admin/", "/admin/users/user/", "/admin/users/user/export/", PAGE, NEW_CODES):
        for method in (half.client.get, half.client.post):
            answer = method(path, {"password": PASSWORD})
            assert (answer.status_code, answer.headers["Location"][:12]) == (302, "/admin/login")
    for path in (SET_UP, "/admin/login/", "/api/session/login"):
        assert half.client.get(path).headers["Location"].startswith(CODE), path
    assert half.client.post(SET_UP, {"code": "123456", "password": PASSWORD}).status_code == 302
    assert half.client.get(f"/api/trips/{trip.pk}").status_code == 401
    assert half.client.post("/admin/password_change/", {}).status_code == 302


def test_a_code_works_once_in_any_session(browser, ada, clock):
    """T145: A code of the second factor works once, in any session."""
    first, second = Browser(ada), Browser(ada)
    for each in (first, second):
        each.log_in()
    code = browser.shown()
    assert first.code(code).status_code == 302
    refused = second.code(code)
    assert (refused.status_code, WRONG in text(refused)) == (200, True)
    clock.shift(HALF_A_MINUTE)
    assert second.code(browser.shown()).status_code == 302
    assert second.is_inside()


def test_the_code_that_set_the_app_up_does_not_log_in(ada, clock):
    browser, again = Browser(ada), Browser(ada)
    browser.log_in()
    code = browser.set_up() and browser.shown()
    again.log_in()
    assert WRONG in text(again.code(code))


def test_wrong_codes_are_slowed_down_whatever_the_address(browser, ada, clock, limits):
    limits(login="")
    again = Browser(ada)
    again.log_in()
    for wrong in (*map("00000{}".format, range(4)), *["abcd-efgh"] * 4):
        assert WRONG in text(again.code(wrong))
    for wrong, wait_seconds in (("000000", 1), ("000001", 2), ("abcd-efgh", 1)):
        assert WRONG in text(again.code(wrong))
        refused = again.client.post(CODE, {"code": wrong}, REMOTE_ADDR="192.0.2.7")
        assert (refused.status_code, WAIT in text(refused)) == (429, True)
        clock.shift(wait_seconds)
    assert again.code(browser.shown()).status_code == 302


def test_codes_count_as_log_in_attempts(browser, ada, limits):
    again = Browser(ada)
    again.log_in()
    limits(login="1/hour")
    assert WRONG in text(again.code("000000"))
    assert again.code(browser.codes[0]).status_code == 429
    assert not again.is_inside()


@pytest.mark.parametrize("code", ["", "12345", "1234567", "١٢٣٤٥٦", "-12345", "0x1234", "\x00" * 6])
def test_what_is_no_code_is_refused(browser, ada, code):
    again = Browser(ada)
    again.log_in()
    assert again.code(code).status_code in {200, 400}
    assert not again.is_inside()


def test_a_recovery_code_works_once_and_new_ones_replace_the_rest(browser, ada):
    old = browser.codes
    assert len(set(old)) == 10
    for code, is_good in ((old[0], True), (old[0], False)):
        again = Browser(ada)
        again.log_in()
        again.code(code.upper().replace("-", " "))
        assert again.is_inside() == is_good
    assert "Recovery codes left: 9" in text(browser.client.get(PAGE))
    assert "codes" not in browser.client.post(NEW_CODES, {"password": "wrong"}).context
    page = text(browser.client.post(NEW_CODES, {"password": PASSWORD}))
    new = re.findall(r"<li><code>([0-9-]{13,})</code></li>", page)
    assert len({*new, *old}) == 20
    assert not any(
        code in text(browser.client.get(path)) for path in (PAGE, NEW_CODES) for code in new
    )
    assert messages_of(ada)[1:] == ["Recovery code used.", "New recovery codes."]


def test_the_database_contains_neither_seed_nor_recovery_codes(browser):
    """T146: The database contains neither the seed of an app nor a code."""
    device = TOTPDevice.objects.get()
    assert f"{TOTP(device.bin_key).token():06}" != browser.shown()
    assert browser.seed.hex() not in device.key
    stored = {token.token.lower() for token in StaticToken.objects.all()}
    assert len(stored) == 10
    assert not stored & {code.replace("-", "") for code in browser.codes}


def test_an_app_is_set_up_with_its_code_and_the_password(ada, clock):
    browser = Browser(ada)
    browser.log_in()
    page = text(browser.client.get(SET_UP))
    assert page.count("<svg") - page.count('<svg class="base-svgs"') >= 1
    assert "<script" not in page.partition("<svg")[2].partition("</svg>")[0]
    for form in ({"code": "000000"}, {"password": "wrong"}, {"code": "12345"}):
        assert browser.set_up(**form).status_code == 200
        assert not browser.codes
        assert not TOTPDevice.objects.exists()
    assert 'name="password"' not in text(browser.set_up())
    assert browser.is_inside()
    for number in range(2):
        clock.shift(HALF_A_MINUTE)
        assert browser.set_up().status_code == 200, number
    assert TOTPDevice.objects.count() == 1


def test_another_session_needs_the_code_as_soon_as_there_is_an_app(ada, clock):
    before, browser = Browser(ada), Browser(ada)
    for each in (before, browser):
        each.log_in()
        assert each.is_inside()
    browser.set_up()
    assert not before.is_inside()
    before.code(browser.codes[0])
    assert before.is_inside()
    clock.shift(HALF_A_MINUTE)
    browser.set_up()
    assert not before.is_inside()
    assert browser.is_inside()


def test_a_request_that_saw_no_app_does_not_replace_one_that_was_set_up_meanwhile(browser, ada):
    app = AuthenticatorApp.of(ada)
    with pytest.raises(NotAuthenticated):
        AuthenticatorApp.set_up(ada, app.key, browser.shown(), instead_of=None)
    app.remove(ada)
    for change in (app.remove, app.renew_codes):
        with pytest.raises(NotAuthenticated):
            change(ada)


def test_it_is_turned_off_with_the_password_only(browser, ada):
    assert browser.client.post(TURN_OFF, {"password": "wrong"}).status_code == 200
    assert TOTPDevice.objects.exists()
    browser.client.post(TURN_OFF, {"password": PASSWORD})
    assert not TOTPDevice.objects.exists()
    assert not StaticToken.objects.exists()
    again = Browser(ada)
    again.log_in()
    assert again.is_inside()
    assert messages_of(ada) == ["Second factor set up.", "Second factor removed."]


def test_when_it_is_required_an_administrator_sets_it_up_before_anything_else(
    ada, olga, clock, settings
):
    browser = Browser(ada)
    browser.log_in()
    assert browser.is_inside()
    settings.REQUIRE_SECOND_FACTOR = True
    assert not browser.is_inside()
    assert browser.client.get("/admin/", follow=True).request["PATH_INFO"] == SET_UP
    browser.set_up()
    assert browser.is_inside()
    browser.client.post(TURN_OFF, {"password": PASSWORD})
    assert not browser.is_inside()
    user = Browser(olga)
    user.password(LOG_INS[1])
    assert user.client.get("/api/users/me").status_code == 200
    assert user.client.get(SET_UP).headers["Location"].startswith("/admin/login/")


def test_tokens_that_were_issued_do_not_need_it(ada, clock, settings):
    settings.REQUIRE_SECOND_FACTOR = True
    pair, browser = log_in(ada), Browser(ada)
    browser.log_in()
    browser.set_up()
    assert bearer(pair["token"]).get("/api/users/me").status_code == 200
    token = ScopedToken.issue(ada, name="Import", scopes=["trips:read"])
    assert bearer(token.token).get("/api/trips").status_code == 200


def test_the_browser_asks_everybody_who_has_an_app(browser, ada, olga):
    TOTPDevice.objects.update(user=olga)
    user = Browser(olga)
    user.password(LOG_INS[1])
    assert user.client.get("/api/users/me").status_code == 401
    assert user.code(browser.shown(), next="/api").headers["Location"] == "/api"
    assert user.client.get("/api/users/me").status_code == 200


def test_an_operator_resets_it_and_ends_the_sessions(browser, ada):
    half = Browser(ada)
    half.log_in()
    out = StringIO()
    call_command("reset_second_factor", "ADA@example.com", stdout=out)
    assert out.getvalue().startswith("The second factor of ada@example.com was removed")
    assert not browser.is_inside()
    assert not half.is_inside()
    for email in (ada.email, "nobody@example.com"):
        with pytest.raises(CommandError):
            call_command("reset_second_factor", email)
    browser.log_in()
    assert browser.is_inside()


def test_the_service_does_not_start_without_what_asks_for_it(browser, ada):
    with modify_settings(INSTALLED_APPS={"remove": "plugins.second_factor"}):
        with pytest.raises(SystemCheckError, match="no plugin asks for it"):
            call_command("migrate", skip_checks=False)
        TOTPDevice.objects.all().delete()
        call_command("check", tags=["database"], databases=["default"])


def test_a_half_authenticated_session_can_log_out(browser, ada):
    half = Browser(ada)
    half.log_in()
    half.client.post("/api/session/logout?next=/admin/login/")
    assert half.client.get(CODE, follow=True).request["PATH_INFO"] == "/admin/login/"
    assert not half.client.session.items()


@pytest.mark.parametrize("next_url", ["https://evil.example/", "//evil.example", "javascript:1"])
def test_it_leads_to_no_other_site(browser, ada, next_url):
    again = Browser(ada)
    again.password(next=next_url)
    assert again.code(browser.shown(), next=next_url).headers["Location"] == "/admin/"


def test_a_deleted_account_leaves_no_second_factor(browser, ada):
    User.register("other@example.com", PASSWORD, role="ADMIN")
    delete_account(ada, by=None)
    assert not TOTPDevice.objects.exists()
    assert not StaticToken.objects.exists()


def test_it_costs_an_administrators_page_one_query(ada, clock):
    browser = Browser(ada)
    browser.log_in()
    browser.set_up()
    with CaptureQueriesContext(connection) as context:
        assert browser.client.get(PAGE).status_code == 200
    assert (
        len([query for query in context if "otp_totp" in query["sql"]]) == 2
    )  # and the page itself
    assert len(context) == 5


@pytest.mark.parametrize("path", [PAGE, SET_UP, TURN_OFF, NEW_CODES, CODE])
def test_its_pages_speak_spanish_and_are_never_stored(browser, ada, path):
    if path == CODE:
        browser = Browser(ada)
        browser.log_in()
    page = browser.client.get(path, headers={"Accept-Language": "es"})
    assert page.status_code == 200
    assert "no-store" in page.headers["Cache-Control"]
    for english in ("econd factor", "ecovery code", "authenticator", "Password", "Log out"):
        assert english not in re.sub(r"<(head|script)>.*?</\1>|<[^>]*>", "", text(page), flags=re.S)
