"""Programs log in by OAuth 2, on a server process that has it."""

import base64
import hashlib
import html
import re
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.server import running_server

pytestmark = pytest.mark.either

BACK = "https://program.example/back?from=here"
PASSWORD = "a long password"
SECRET = "ProgramSecret" * 4
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
EVERYTHING = ["trips:read", "trips:write", "expenses:read", "expenses:write"]


@pytest.fixture(scope="module")
def server():
    # One process may get all of the requests that a test sends at once.
    options = {"SPLITWISE_API": "true", "LOG_LEVEL": "ERROR", "DATABASE_POOL_SIZE": "8"}
    with running_server(**options) as running:
        owner = Person(running.url)
        owner.http.close()
        user = str(owner.user["id"])
        applications = [
            (kind, grant, "--client-id", client_id, "--name", client_id.title(),
             "--client-secret", SECRET, "--redirect-uris", BACK, *more)
            for client_id, kind, grant, *more in (
                ("program", "confidential", "authorization-code"),
                ("other", "confidential", "authorization-code"),
                ("phone", "public", "authorization-code"),
                ("trusted", "confidential", "authorization-code", "--skip-authorization"),
                ("robot", "confidential", "client-credentials", "--user", user),
                ("nobody", "confidential", "client-credentials"),
            )
        ]  # fmt: skip
        # In one process, since each takes seconds to start.
        create = "from django.core.management import call_command\n"
        create += f"for each in {applications!r}: call_command('createapplication', *each)"
        running.manage("shell", "--command", create)
        yield running


class Person:
    """A new account, and its browser."""

    def __init__(self, url):
        self.http = httpx.Client(base_url=url)
        self.email = f"{secrets.token_hex(6)}@example.com"
        body = {"name": "Olga", "email": self.email, "password": PASSWORD}
        registered = self.http.post("/api/users/register", json=body).json()
        self.user = registered["user"]
        self.bearer = {"Authorization": f"Bearer {registered['token']}"}

    def log_in(self):
        self.http.get("/api/session/login")
        token = self.http.cookies["csrftoken"]
        body = {"username": self.email, "password": PASSWORD, "csrfmiddlewaretoken": token}
        assert self.http.post("/api/session/login", data=body).status_code == 302
        return self

    def page(self, **query):
        asked = {"response_type": "code", "client_id": "program", "redirect_uri": BACK}
        return self.http.get("/oauth/authorize", params={**asked, **query})

    def form(self, **query):
        """The hidden fields of the page."""
        page = self.page(**query)
        assert page.status_code == 200, page.text
        fields = re.findall(r'<input type="hidden" name="(\w+)"(?: value="([^"]*)")?', page.text)
        return {name: html.unescape(value) for name, value in fields}

    def answer(self, **fields):
        return self.http.post("/oauth/authorize", data=fields)

    def code(self, **query):
        back = self.answer(**self.form(**query), allow="true")
        assert back.status_code == 302, back.text
        return str(parse_qs(urlsplit(back.headers["Location"]).query)["code"][0])

    def tokens(self):
        return self.http.get("/api/users/me/tokens", headers=self.bearer).json()["items"]


@pytest.fixture
def person(server):
    one = Person(server.url)
    yield one.log_in()
    one.http.close()


def exchange(server, code, status=200, **body):
    program = {"client_id": "program", "client_secret": SECRET, "redirect_uri": BACK}
    body = {**program, "grant_type": "authorization_code", "code": code, **body}
    answer = httpx.post(f"{server.url}/oauth/token", data=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def groups_with(server, token):
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{server.url}/api/v3.0/get_groups", headers=headers).status_code


def test_a_program_gets_a_scoped_token_that_the_person_can_revoke(server, person):
    """T202: A program gets a scoped token after its user has allowed it."""
    answer = exchange(server, person.code())
    assert answer["token_type"] == "Bearer"
    assert sorted(answer["scope"].split()) == sorted(EVERYTHING)
    assert "refresh_token" not in answer
    assert groups_with(server, answer["access_token"]) == 200
    (listed,) = person.tokens()
    assert (listed["name"], listed["scopes"]) == ("Program (program)", EVERYTHING)
    person.http.delete(f"/api/users/me/tokens/{listed['id']}", headers=person.bearer)
    assert groups_with(server, answer["access_token"]) == 401


def test_the_page_says_who_asks_for_what(server, person):
    page = person.page(scope="trips:read")
    assert "Program" in page.text
    assert person.email in page.text
    assert "See your trips" in page.text
    assert "Record, change" not in page.text
    assert page.headers["X-Frame-Options"] == "DENY"
    assert "no-store" in page.headers["Cache-Control"]
    token = exchange(server, person.code(scope="trips:read"))["access_token"]
    assert groups_with(server, token) == 403


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "¿Quieres permitir que «Program» actúe en nombre de"),
        ({"client_id": "unknown"}, "El programa pidió el acceso de forma incorrecta:"),
    ],
)
def test_the_page_speaks_spanish(person, query, said):
    person.http.headers["Accept-Language"] = "es"
    page = person.page(**query).text
    assert '<html lang="es">' in page
    assert "<h1>Acceso para un programa</h1>" in page
    assert said in page


def test_who_has_not_logged_in_does_so_first(server):
    login = "/api/session/login?next=/oauth/authorize"
    with httpx.Client(base_url=server.url) as http:
        assert http.get("/oauth/authorize?client_id=x").headers["Location"].startswith(login)
        assert http.post("/oauth/authorize", data={"allow": "true"}).status_code == 403


def test_no_consent_is_no_code(server, person):
    form = person.form(state="a b&c")
    back = person.answer(**form)
    assert parse_qs(urlsplit(back.headers["Location"]).query) == {
        "from": ["here"],
        "error": ["access_denied"],
        "state": ["a b&c"],
    }
    del form["csrfmiddlewaretoken"]
    assert person.answer(**form, allow="true").status_code == 403


def test_the_state_comes_back_as_it_was(server, person):
    back = person.answer(**person.form(state="a b&c"), allow="true")
    assert parse_qs(urlsplit(back.headers["Location"]).query)["state"] == ["a b&c"]


@pytest.mark.parametrize(
    "change",
    [
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": BACK + "x"},
        {"client_id": "unknown"},
        {"client_id": "robot"},
        {"response_type": "token"},
        {"scope": "admin"},
        {"code_challenge": "x" * 43, "code_challenge_method": "plain"},
    ],
)
def test_a_wrong_request_gets_no_code(server, person, change):
    answer = person.answer(**{**person.form(), **change, "allow": "true"})
    assert answer.status_code in {302, 400, 401, 403}, answer.text
    for one in (answer, person.page(**change)):
        assert "code=" not in one.headers.get("Location", "")
        assert "evil" not in one.headers.get("Location", "")


def test_a_code_works_once_and_then_ends_what_it_gave(server, person):
    other = exchange(server, person.code())["access_token"]
    code = person.code()
    token = exchange(server, code)["access_token"]
    # Without the secret of the program, a code is no proof of anything.
    exchange(server, code, 401, client_secret="wrong")
    assert groups_with(server, token) == 200
    assert exchange(server, code, 400)["error"] == "invalid_grant"
    assert [groups_with(server, one) for one in (token, other)] == [401, 200]
    assert len(person.tokens()) == 1


def test_a_code_that_is_sent_eight_times_at_once_gives_one_token(server, person):
    """T211: A code of OAuth gives one token, however often it is sent."""
    body = {"client_id": "program", "client_secret": SECRET, "redirect_uri": BACK}
    body |= {"grant_type": "authorization_code"}
    for code in [person.code() for _ in range(3)]:
        start = threading.Barrier(8)

        def send(code=code, start=start):
            start.wait()
            return httpx.post(f"{server.url}/oauth/token", data={**body, "code": code}, timeout=30)

        with ThreadPoolExecutor(8) as threads:
            sent = [threads.submit(send) for _ in range(8)]
            answers = [one.result() for one in sent]
        assert sorted(one.status_code for one in answers) == [200, *[400] * 7], [
            one.text for one in answers
        ]
        refused = [one.json()["error"] for one in answers if one.status_code == 400]
        assert refused == ["invalid_grant"] * 7


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_secret": ""}, 401, "invalid_client"),
        ({"client_id": "other"}, 400, "invalid_grant"),
        ({"redirect_uri": BACK + "x"}, 400, "invalid_request"),
        ({"code": "guessed"}, 400, "invalid_grant"),
        ({"code": "\x00"}, 400, "invalid_grant"),
        ({"client_id": "\x00"}, 401, "invalid_client"),
        ({"client_id": "\x00", "client_secret": ""}, 401, "invalid_client"),
        ({"grant_type": "client_credentials"}, 400, "unauthorized_client"),
        ({"grant_type": "password", "username": "x"}, 400, "unsupported_grant_type"),
        ({"grant_type": "refresh_token"}, 400, "unsupported_grant_type"),
        ({"grant_type": DEVICE, "device_code": "x"}, 400, "unsupported_grant_type"),
        ({"grant_type": DEVICE, "device_code": "\x00"}, 400, "unsupported_grant_type"),
        ({"grant_type": ""}, 400, "unsupported_grant_type"),
    ],
)
def test_a_wrong_exchange_is_refused(server, person, change, status, error):
    change = {"code": person.code(), **change}
    assert exchange(server, status=status, **change)["error"] == error
    assert person.tokens() == []


@pytest.mark.parametrize("name", [b"\x00", b"%00", b"unknown", b"\xff"])
def test_a_wrong_name_in_basic_authentication_is_refused(server, name):
    body = {"grant_type": "authorization_code", "code": "x"}
    given = {"Authorization": f"Basic {base64.b64encode(name + b':x').decode()}"}
    answer = httpx.post(f"{server.url}/oauth/token", data=body, headers=given)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


def test_a_program_that_keeps_no_secret_needs_pkce(server, person):
    assert "Code+challenge" in person.page(client_id="phone").headers["Location"]
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    asked = {"client_id": "phone", "code_challenge": challenge, "code_challenge_method": "S256"}
    code, phone = person.code(**asked), {"client_id": "phone", "client_secret": ""}
    exchange(server, code, 400, **phone)
    exchange(server, code, 400, **phone, code_verifier="x" * 43)
    token = exchange(server, code, **phone, code_verifier=verifier)["access_token"]
    assert groups_with(server, token) == 200


def test_a_program_of_its_own_acts_for_its_owner(server):
    body = {"grant_type": "client_credentials", "client_id": "robot", "client_secret": SECRET}
    tokens = [httpx.post(f"{server.url}/oauth/token", data=body).json() for _ in range(7)]
    works = [groups_with(server, one["access_token"]) for one in tokens]
    assert works == [401, 401, 200, 200, 200, 200, 200]
    body["client_id"] = "nobody"
    assert httpx.post(f"{server.url}/oauth/token", data=body).status_code == 400


def test_a_form_without_its_type_is_read(server, person):
    body = f"client_id=program&client_secret={SECRET}&grant_type=authorization_code"
    body += f"&code={person.code()}&redirect_uri={BACK}"
    answer = httpx.post(f"{server.url}/oauth/token", content=body.encode())
    assert answer.status_code == 200, answer.text


def test_other_methods_are_refused(server, person):
    assert person.http.put("/oauth/authorize").status_code in {403, 405}
    assert person.http.get("/oauth/token").status_code == 405


def test_a_form_that_was_tampered_with_is_a_clear_error(server, person):
    form = person.form()
    for name in form:
        for value in ("", "😀" * 400, "{", "0" * 4000):
            answer = person.answer(**{**form, name: value, "allow": "true"})
            assert answer.status_code < 500, (name, value, answer.text)


@pytest.mark.parametrize("unused", ["resource", "nonce", "claims"])
def test_what_is_not_used_here_is_left_out(server, person, unused):
    for value in ("http://[", "n" * 300, "https://api.example.com/api/mcp", "{"):
        exchange(server, person.code(**{unused: value}))
        # A form is sent to the address of the page, with its query.
        form = {**person.form(), "allow": "true"}
        back = person.http.post("/oauth/authorize", params={unused: value}, data=form)
        assert "code=" in back.headers["Location"], back.text


def test_a_query_is_checked_as_the_form_is(server, person):
    trusted = {"client_id": "trusted"}
    assert "code=" in person.page(**trusted).headers["Location"]
    for wrong in (
        {"code_challenge": "c" * 200, "code_challenge_method": "S256"},
        {"code_challenge": "c" * 43, "code_challenge_method": "S" * 20},
    ):
        page = person.page(**{**trusted, **wrong})
        assert (page.status_code, "wrong way" in page.text) == (400, True)
        form = {**person.form(), "allow": "true"}
        back = person.http.post("/oauth/authorize", params=wrong, data=form)
        assert "code=" in back.headers["Location"], back.text


def test_an_administrator_registers_a_program_in_the_admin_site(server, person):
    with httpx.Client(base_url=server.url, headers={"Referer": server.url}) as http:
        email = f"{secrets.token_hex(6)}@example.com"
        names = ("--email", email, "--name", "Ada Admin", "--noinput")
        server.manage("createsuperuser", *names, DJANGO_SUPERUSER_PASSWORD=PASSWORD)

        def send(path, **form):
            http.get(path)
            return http.post(path, data={**form, "csrfmiddlewaretoken": http.cookies["csrftoken"]})

        assert send("/admin/login/", username=email, password=PASSWORD).status_code == 302
        added = send(
            "/admin/oauth2_provider/application/add/",
            name="Tricky",
            client_id="tricky",
            client_secret=SECRET,
            hash_client_secret="on",
            redirect_uris=BACK,
            client_type="confidential",
            authorization_grant_type="authorization-code",
            algorithm="",
        )
        assert added.status_code == 302, added.text
    assert "Tricky" in person.page(client_id="tricky").text


def test_no_code_outlives_the_password(server, person):
    code = person.code()
    account = f"{server.url}/api/users/{person.user['id']}"
    body = {"name": "Olga", "email": person.email, "password": f"{PASSWORD} 2"}
    body["currentPassword"] = PASSWORD
    assert httpx.put(account, json=body, headers=person.bearer).status_code == 200
    assert exchange(server, code, 400)["error"] == "invalid_grant"
    assert person.tokens() == []


@pytest.mark.slow
def test_a_deactivated_account_gets_no_token(server, person):
    """The code has ended; the secret is good, so the lock of the account refuses."""
    code, user = person.code(), str(person.user["id"])
    names = ("--client-id", f"robot{user}", "--client-secret", SECRET, "--user", user)
    server.manage("createapplication", "confidential", "client-credentials", *names)
    deactivate = f"User.objects.get(pk={user}).deactivate(by=None)"
    server.manage("shell", "--command", f"from users.models import User; {deactivate}")

    assert exchange(server, code, 400)["error"] == "invalid_grant"
    own = {"grant_type": "client_credentials", "client_id": f"robot{user}"}
    assert exchange(server, code, 400, **own)["error"] == "invalid_grant"
    count = f"ScopedToken.objects.filter(user={user}).count()"
    command = f"from users.models import ScopedToken; print({count})"
    assert server.manage("shell", "--verbosity", "0", "--command", command).stdout.strip() == "0"


def test_codes_are_valid_for_a_minute(server, person):
    code = person.code()
    names = "from datetime import timedelta; from oauth2_provider.models import Grant"
    later = "Grant.objects.update(expires=F('expires') - timedelta(minutes=1))"
    server.manage("shell", "--command", f"from django.db.models import F; {names}; {later}")
    assert exchange(server, code, 400)["error"] == "invalid_grant"
    assert person.tokens() == []
    assert exchange(server, person.code())["expires_in"] == 360 * 24 * 3600


def test_programs_that_guess_are_slowed_down():
    more = {"NUM_PROXIES": "1", "THROTTLE_LOGIN_ADDRESS": "3/hour"}
    with running_server(SPLITWISE_API="true", LOG_LEVEL="ERROR", **more) as behind:
        named = ("--client-id", "program", "--client-secret", SECRET, "--redirect-uris", BACK)
        behind.manage("createapplication", "confidential", "authorization-code", *named)
        address = {"X-Forwarded-For": "203.0.113.7"}
        body = {"grant_type": "client_credentials", "client_id": "program"}
        body["client_secret"] = "guess"
        token = f"{behind.url}/oauth/token"
        answers = [httpx.post(token, data=body, headers=address) for _ in range(4)]
    assert [one.status_code for one in answers] == [401] * 3 + [429]
    assert int(answers[-1].headers["Retry-After"]) >= 1
