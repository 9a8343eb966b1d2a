"""The landing page, and the root of the API."""

import re

import pytest
from django.conf import settings
from django.test import Client

from tests.document import problem_of
from tests.factories import PASSWORD
from tests.scoped import script_of
from tests.test_docs_pages import assert_self_contained
from tests.users.logins import bearer
from tests.walked import all_of

pytestmark = pytest.mark.once


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
def test_the_landing_page_follows_the_language(client, query, accepted, language, text):
    response = client.get(f"/{query}", headers={"Accept-Language": accepted})
    page = response.content.decode()
    assert text in page
    assert f'<html lang="{language}">' in page
    assert response["Content-Language"] == language
    assert "Accept-Language" in response["Vary"]


def test_everything_that_the_landing_page_links_to_is_there(client, db):
    page = client.get("/").content.decode()
    links = set(re.findall(r'<a href="([^"]+)"', page))
    assert links == {"/api/docs", "/api", "/api/schema", "/admin", "/api/health", "/?lang=es"}
    for link in links:
        assert client.get(link, follow=True).status_code == 200, link
    assert f"Version {settings.SPECTACULAR_SETTINGS['VERSION']}" in page
    assert_self_contained(client, "/", page)


def test_the_landing_page_runs_nothing(client):
    response = client.get("/")
    policy = response["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self'; ")
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert not re.search(rb"<script|<style|\son\w+=|style=", response.content)
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert not response.cookies


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_the_landing_page_refuses_a_wrong_method_like_everything_else(client, method):
    response = client.generic(method, "/")
    problem_of(response, 405, "method_not_allowed")
    assert response["Allow"] == "GET, HEAD"


def test_the_root_is_a_page_whose_links_can_be_clicked(olga):
    browser = Client(headers={"Accept": "text/html"})
    browser.login(username=olga.email, password=PASSWORD)
    assert '<a href="http://testserver/api/trips"' in browser.get("/api").content.decode()
    # It is the first of the breadcrumbs of all other pages.
    assert '<a href="/api">API</a>' in browser.get("/api/trips").content.decode()


OPEN = {"docs", "schema", "health", "currencies", "categories"}
ACCOUNT = {"me", "sessions", "tokens", *all_of("LINKS")}
DEBTS = {"pendingDebts", "totalDebt"}


def links_of(client):
    response = client.get("/api")
    assert response.status_code == 200
    links = response.json()
    assert links.pop("version") == settings.SPECTACULAR_SETTINGS["VERSION"]
    return links


def test_the_root_names_what_the_caller_may_use(api, olga, ada, trip):
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
def test_a_stale_token_at_the_root_is_ignored(client, db, header):
    response = client.get("/api", headers={"Authorization": header.encode().decode("latin-1")})
    assert response.json().keys() == OPEN | {"version", "register", "login"}


def test_every_link_of_the_root_is_there_and_may_be_followed(api, olga):
    client = api(olga)
    for name, url in links_of(client).items():
        assert url.startswith("http://testserver/api/")
        assert client.get(url.removeprefix("http://testserver")).status_code == 200, name
