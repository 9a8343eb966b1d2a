"""The ways in: the page at `/`, the root of the API, the icon, and paths with a trailing slash."""

import re
import struct

import pytest
from django.conf import settings
from django.test import Client
from rest_framework.test import APIClient

from tests.cast import Api
from tests.document import problem_of
from tests.factories import PASSWORD
from tests.scoped import script_of
from tests.test_docs_pages import assert_self_contained
from tests.users.logins import bearer
from tests.walked import all_of
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.once

OPEN = {"docs", "schema", "health", "currencies", "categories"}
ACCOUNT = {"me", "sessions", "tokens", "export", *all_of("LINKS")}
DEBTS = {"pendingDebts", "totalDebt"}


# -- The page --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "accepted", "language", "text"),
    [
        ("", "en", "en", "see who owes whom"),
        ("", "es-MX", "es", "quién debe a quién"),
        ("", "de", "en", "see who owes whom"),
        ("?lang=es", "en", "es", "quién debe a quién"),
        ("?lang=xx", "es", "es", "quién debe a quién"),
    ],
)
def test_the_landing_page_follows_the_language(
    client: Client, query: str, accepted: str, language: str, text: str
) -> None:
    response = client.get(f"/{query}", headers={"Accept-Language": accepted})
    page = response.content.decode()
    assert text in page
    assert f'<html lang="{language}">' in page
    assert response["Content-Language"] == language
    assert "Accept-Language" in response["Vary"]


def test_everything_that_the_landing_page_links_to_is_there(client: Client, db: None) -> None:
    page = client.get("/").content.decode()
    links = set(re.findall(r'<a href="([^"]+)"', page))
    assert links == {"/api/docs", "/api", "/api/schema", "/admin", "/api/health", "/?lang=es"}
    for link in links:
        assert client.get(link, follow=True).status_code == 200, link
    assert f"Version {settings.SPECTACULAR_SETTINGS['VERSION']}" in page
    assert_self_contained(client, "/", page)


def test_the_landing_page_runs_nothing(client: Client, django_assert_num_queries: object) -> None:
    response = client.get("/")
    policy = response["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self'; ")
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert not re.search(rb"<script|<style|\son\w+=|style=", response.content)
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert not response.cookies


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_the_landing_page_refuses_a_wrong_method_like_everything_else(
    client: Client, method: str
) -> None:
    response = client.generic(method, "/")
    problem_of(response, 405, "method_not_allowed")
    assert response["Allow"] == "GET, HEAD"


# -- The icon --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind"), [("/favicon.ico", "image/x-icon"), ("/favicon.svg", "image/svg+xml")]
)
def test_the_icon_is_served_at_the_root(client: Client, db: None, path: str, kind: str) -> None:
    response = client.get(path)
    content = b"".join(response.streaming_content)
    response.close()
    assert response["Content-Type"] == kind
    assert "no-store" not in response["Cache-Control"]
    if path.endswith(".ico"):
        # The head of the format: reserved, type 1, three images.
        assert struct.unpack("<HHH", content[:6]) == (0, 1, 3)
    else:
        assert content.startswith(b"<svg")


@pytest.mark.parametrize("path", ["/", "/api", "/api/docs"])
def test_pages_name_the_icon(client: Client, db: None, path: str) -> None:
    page = client.get(path, headers={"Accept": "text/html"}).content.decode()
    assert re.search(r'<link rel="icon" href="/favicon.svg"', page)


# -- The root of the API ---------------------------------------------------------------------------


def links_of(client: APIClient) -> dict[str, str]:
    response = client.get("/api")
    assert response.status_code == 200
    return response.json()


def test_the_root_names_what_the_caller_may_use(
    api: Api, olga: User, ada: User, trip: Trip
) -> None:
    user = OPEN | ACCOUNT | DEBTS | {"trips"}
    for client, names in (
        (api(None), OPEN | {"register", "login"}),
        (api(olga), user),
        (api(ada), user | {"admin"}),
        (bearer(script_of(olga, "trips:read").token), OPEN | {"trips"}),
        (bearer(script_of(ada, "expenses:read").token), OPEN | DEBTS),
        (bearer(script_of(olga, "expenses:write", trip=trip).token), OPEN),
    ):
        assert links_of(client).keys() == names


@pytest.mark.parametrize("header", ["Bearer stale", "Basic eDp5", "Bearer tc_none", "Bearer é"])
def test_a_stale_token_at_the_root_is_ignored(client: Client, db: None, header: str) -> None:
    response = client.get("/api", headers={"Authorization": header.encode().decode("latin-1")})
    assert response.json().keys() == OPEN | {"register", "login"}


def test_every_link_of_the_root_is_there_and_may_be_followed(api: Api, olga: User) -> None:
    client = api(olga)
    for name, url in links_of(client).items():
        assert url.startswith("http://testserver/api/")
        assert client.get(url.removeprefix("http://testserver")).status_code == 200, name


def test_the_root_is_a_page_whose_links_can_be_clicked(olga: User) -> None:
    browser = Client(headers={"Accept": "text/html"})
    browser.login(username=olga.email, password=PASSWORD)
    page = browser.get("/api").content.decode()
    assert '<a href="http://testserver/api/trips"' in page
    # It is the first of the breadcrumbs of all other pages.
    assert '<a href="/api">API</a>' in browser.get("/api/trips").content.decode()


# -- Trailing slashes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "is_explained"),
    [
        *(("/api/", True), ("/api/trips/", True), ("/api/trips/7/", True), ("/api/no/", True)),
        *(("/api/no", False), ("/no/", False), ("/apiary/", False)),
    ],
)
def test_a_404_says_that_paths_have_no_trailing_slash(
    client: Client, path: str, is_explained: bool
) -> None:
    for language, text in (("en", "no trailing slash"), ("es", "no terminan en barra")):
        response = client.get(path, headers={"Accept-Language": language})
        assert (text in problem_of(response, 404, "not_found")["detail"]) is is_explained
