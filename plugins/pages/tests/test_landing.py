"""The page at `/`, and the root of the API as a page."""

import re

import pytest
from django.conf import settings
from django.test import Client

from tests.document import problem_of
from tests.factories import PASSWORD
from tests.test_docs_pages import assert_self_contained

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


def test_the_landing_page_runs_nothing(client, django_assert_num_queries):
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
    page = browser.get("/api").content.decode()
    assert '<a href="http://testserver/api/trips"' in page
    # It is the first of the breadcrumbs of all other pages.
    assert '<a href="/api">API</a>' in browser.get("/api/trips").content.decode()
