"""Pages for people who explore: Swagger UI, the document, the browsable API."""

import json
import re
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.document import largest_page, operation_at, parse_yaml, problem_of, read_document
from tests.factories import PASSWORD, overwrite
from tests.stored import rolled_back
from tests.trips.access import Scene
from tests.trips.rows import ROWS
from tripcompanion.openapi.document import _generated, document

pytestmark = pytest.mark.once

#: What a page loads by itself; links that people click may lead anywhere.
LOADED = re.compile(
    r"""<(?:script|img|iframe|link|source|embed)\b[^>]*?\b(?:src|href)=["']?([^"'\s>]+)|"""
    r"""url\(["']?([^"')]+)|@import\s+["']([^"']+)|(?:fetch|import)\(["']([^"']+)"""
)
SCRIPT = "<script>alert('x')</script>"


def loaded_by(page):
    """Addresses of everything that the page loads."""
    found = (next(filter(None, groups)) for groups in LOADED.findall(page))
    return [unescape(address) for address in found if not address.startswith("data:")]


def assert_self_contained(client, path, page):
    """Everything that `page` at `path` loads is served here, with what those files load."""
    addresses = [urljoin(path, address) for address in loaded_by(page)]
    assert addresses
    for address in addresses:
        parts = urlsplit(address)
        assert not parts.netloc, address
        if parts.path.startswith("/static/"):
            assert finders.find(parts.path.removeprefix("/static/")), address
        else:
            response = client.get(parts.path)
            assert response.status_code == 200, address
            # A file is open until then.
            response.close()


@pytest.fixture
def browser(olga):
    """Olga's browser, logged in by the form, as strict about CSRF as a real one."""
    browser = Client(enforce_csrf_checks=True, headers={"Accept": "text/html"})
    page = browser.get("/api/session/login")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.content.decode())[1]
    form = {"username": olga.email, "password": PASSWORD, "csrfmiddlewaretoken": token}
    response = browser.post("/api/session/login", form)
    assert response.status_code == 302, response.content
    return browser


def csrf_header(browser):
    return {"X-CSRFToken": browser.cookies["csrftoken"].value}


# -- The document and Swagger UI -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accept", "read"),
    [
        (None, parse_yaml),
        ("application/vnd.oai.openapi", parse_yaml),
        ("application/yaml", parse_yaml),
        ("application/json", json.loads),
        ("application/vnd.oai.openapi+json", json.loads),
    ],
)
def test_the_document_is_served_as_yaml_and_as_json(client, accept, read):
    headers = {} if accept is None else {"Accept": accept}
    response = client.get("/api/schema", headers=headers)
    assert response.status_code == 200
    assert read(response.content) == read_document()


def test_the_document_can_be_asked_for_by_its_format(client):
    assert json.loads(client.get("/api/schema?format=json").content) == read_document()
    assert parse_yaml(client.get("/api/schema?format=yaml").content) == read_document()


def test_the_document_is_generated_once_for_a_language_and_whoever_asks(api, olga, ada, db):
    tags = defaultdict(set)
    clients = [api(olga), api(ada), api(None), Client(headers={"X-Forwarded-Host": "evil.example"})]
    for client in clients:
        for language in ("en", "es"):
            for form in ("json", "yaml"):
                for query in ("", "&version=2&lang=xx&x=1"):
                    url = f"/api/schema?format={form}{query}"
                    response = client.get(url, headers={"Accept-Language": language})
                    assert response.status_code == 200
                    assert response.headers["Content-Disposition"] == (
                        f'inline; filename="Trip Companion.{form}"'
                    )
                    tags[language, form].add((response.headers["ETag"], response.content))
    assert {len(found) for found in tags.values()} == {1}
    assert len({tag for found in tags.values() for tag, _body in found}) == 4


def test_threads_that_ask_at_once_share_one_document():
    _generated.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _at: document("en", "json")[1], range(8)))
    assert (len(found), _generated.cache_info().misses) == (1, 1)


def test_who_has_the_document_gets_no_second_copy(client):
    first = client.get("/api/schema")
    again = client.get("/api/schema", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    other = client.get("/api/schema?lang=es", headers={"If-None-Match": first.headers["ETag"]})
    assert other.status_code == 200


def test_the_language_of_the_query_wins(client):
    spanish = client.get("/api/schema", headers={"Accept-Language": "es"})
    asked = client.get("/api/schema?lang=es", headers={"Accept-Language": "en"})
    assert asked.content == spanish.content != client.get("/api/schema").content


@pytest.mark.usefixtures("db")
def test_swagger_ui_is_served_from_the_project_and_shows_the_document(client):
    response = client.get("/api/docs")
    page = response.content.decode()
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/html")
    script = client.get("/api/docs?script=")
    assert script.headers["Content-Type"] == "application/javascript"
    assert "SwaggerUIBundle" in script.content.decode()
    assert "/api/schema" in script.content.decode()
    assert_self_contained(client, "/api/docs", page)
    assert not re.findall(r"https?://(?!localhost)[^\s\"'<]+", page)


# -- The browsable API -----------------------------------------------------------------------------


def test_the_log_in_page_is_self_contained_and_asks_for_the_e_mail(client, db):
    page = client.get("/api/session/login").content.decode()
    assert_self_contained(client, "/api/session/login", page)
    assert "Email" in page


@pytest.mark.parametrize("target", ["//evil.example/", "https://evil.example/", "javascript:x"])
def test_a_log_in_by_an_address_in_any_case_leads_to_the_trips_only(olga, target):
    form = {"username": "OLGA@example.com", "password": PASSWORD, "next": target}
    assert Client().post("/api/session/login", form).headers["Location"] == "/api/trips"


@pytest.mark.parametrize("field", ["username", "password"])
def test_a_wrong_log_in_is_refused_on_the_page(olga, field):
    form = {"username": olga.email, "password": PASSWORD, field: "wrong@example.com"}
    client = Client()
    assert client.post("/api/session/login", form).status_code == 200
    assert "sessionid" not in client.cookies


def test_every_endpoint_has_a_page(browser, olga, trip):
    # A file to keep is no page.
    files = ("/export", "/content", "/thumbnail", ".svg", ".ics")
    for row in ROWS:
        if row.method != "GET" or not operation_at("GET", row.route) or row.route.endswith(files):
            continue
        with rolled_back():
            path = row.route.format(**Scene(trip, olga, own=True).ids(row.route))
            response = browser.get(path + largest_page(row.route))
            page = response.content.decode()
            assert response.status_code == 200, row
            assert response.headers["Content-Type"].startswith("text/html"), row
            assert_self_contained(browser, path, page)
            assert "HTTP 200 OK" in unescape(re.sub(r"<[^>]+>", "", page)), row


def test_an_error_has_a_page_with_the_problem_in_it(browser):
    response = browser.get("/api/trips/999999")
    assert response.status_code == 404
    assert b"not_found" in response.content


def test_a_page_says_who_is_logged_in_and_logs_out(browser, olga):
    page = browser.get("/api/users/me").content.decode()
    assert olga.email in page
    assert "/api/session/logout" in page
    assert browser.post("/api/session/logout", headers=csrf_header(browser)).status_code in {
        200,
        302,
    }
    problem_of(browser.get("/api/users/me", headers={"Accept": "application/json"}), 401)


def test_what_people_write_is_shown_and_not_run(browser, olga, trip):
    """T110: Pages for browsers escape all user input."""
    trip.title = trip.description = SCRIPT
    trip.save()
    overwrite(olga, name=SCRIPT)
    for path in ("/api/trips", f"/api/trips/{trip.pk}", f"/api/trips/{trip.pk}/members"):
        page = browser.get(path).content.decode()
        assert "alert(" not in re.sub(r"&lt;script&gt;.*?&lt;/script&gt;", "", page)
        assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize("url", ["javascript:alert(1)", 'http://x/"onload=alert(1)', "data:,x"])
def test_an_address_that_people_write_becomes_no_dangerous_link(browser, trip, url):
    # The API refuses the schemes; the page must not trust that.
    trip.image_url = url
    trip.save()
    page = browser.get(f"/api/trips/{trip.pk}").content.decode()
    assert not re.findall(r"""href=["']?(?:javascript|data):(?!void)""", page)
    assert '"onload=' not in page


def test_a_browser_writes_with_its_csrf_token_only(browser, olga):
    body = {"name": "Olga by browser"}
    path = f"/api/users/{olga.pk}/profile"
    as_json = {"Accept": "application/json"}
    problem_of(browser.put(path, body, "application/json", headers=as_json), 403, "csrf_failed")
    olga.refresh_from_db()
    assert olga.name == "Olga Owner"
    done = browser.put(path, body, "application/json", headers=as_json | csrf_header(browser))
    assert done.json()["name"] == "Olga by browser"


def test_a_changed_password_ends_the_browser_session(browser, api, olga):
    body = {"currentPassword": PASSWORD, "newPassword": f"{PASSWORD}-2"}
    assert api(olga).put(f"/api/users/{olga.pk}/profile", body).status_code == 200
    problem_of(browser.get("/api/users/me", headers={"Accept": "application/json"}), 401)
