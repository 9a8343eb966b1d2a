"""Whatever stands in a query string, a cookie or a header: a clear answer, and never a 500."""

from http.cookies import SimpleCookie
from itertools import product
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests import strange
from tests.document import ANY_IDS, OPERATIONS, fields_in
from tests.factories import PASSWORD

pytestmark = pytest.mark.once

#: Each as it stands percent-encoded in a query string.
BROKEN = ("%00", "a%00b", "%0a", "%0D%0A", "%1f", "%7F", "%C2%85", "%ED%A0%80", "%ff", "%C3")
#: Requests are parsed alike on both databases, so the slower one gets fewer.
EXAMPLES = 150 if connection.vendor == "sqlite" else 50
#: In the admin site, a browser would get a page instead of the problem document.
NO_PAGE = {"Accept": "*/*"}
ALL = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))


@pytest.fixture
def browser(ada):
    """The browser of an administrator, who sees every page."""
    browser = Client(headers={"Accept": "text/html,*/*"}, raise_request_exception=False)
    browser.force_login(ada)
    return browser


@pytest.fixture
def session(browser):
    return browser.cookies["sessionid"].value


def with_cookies(client, header, path, **more):
    """A GET with a raw `Cookie` header, which Django's client would write by itself."""
    client.cookies = SimpleCookie()
    return client.get(path, HTTP_COOKIE=header, **more)


PATHS = [*strange.PAGES, *(f"/admin/{name}/" for name in strange.LISTS)]


@pytest.mark.parametrize("path", PATHS)
def test_every_page_is_there(browser, path):
    assert browser.get(path).status_code in {200, 302}


@pytest.mark.parametrize("path", PATHS)
def test_a_control_character_in_a_query_is_refused_by_the_name_of_its_parameter(browser, path):
    names = ("q", "id__exact", "version", "lang", "format", "search", "x")
    for name, broken in product(names, BROKEN):
        assert fields_in(browser.get(f"{path}?y=1&{name}={broken}", headers=NO_PAGE)) == [name]


def test_a_control_character_in_the_name_of_a_parameter_is_refused(browser):
    for broken in BROKEN:
        response = browser.get(f"/admin/users/user/?{broken}=1", headers=NO_PAGE)
        assert fields_in(response) == ["nonFieldErrors"]


def test_no_operation_takes_a_control_character_in_its_query(api, ada):
    """T140: Control characters in queries and cookies are refused with a 4xx."""
    clients = (api(ada), api(None))
    for operation in (op for op in OPERATIONS if op.method == "GET"):
        for client in clients:
            assert fields_in(client.get(f"{operation.url(ANY_IDS)}?x=a%00b")) == ["x"], operation


@pytest.mark.parametrize("path", PATHS)
def test_a_control_character_in_a_cookie_is_refused_and_the_cookie_deleted(browser, path):
    octals = (r"\000", "k" * 32 + r"\000", r"\012", r"\177", r"\205")
    for name, octal in product(strange.COOKIES, octals):
        response = with_cookies(browser, f'{name}="{octal}"', path, headers=NO_PAGE)
        assert fields_in(response) == [name]
        assert response.cookies[name]["max-age"] == 0


def test_a_cookie_of_another_service_may_hold_anything(browser, session):
    response = with_cookies(browser, f'theirs="\\000\\012"; sessionid={session}', "/admin/")
    assert response.status_code == 200


@pytest.mark.parametrize("path", ["/admin/users/user/{}/change/", "/static/{}", "/{}", "/api/{}"])
def test_a_control_character_in_a_path_is_not_found(browser, path):
    for broken in BROKEN[:6]:
        assert browser.get(path.format(broken)).status_code == 404, broken


@pytest.mark.parametrize("field", ["username", "password", "next"])
@pytest.mark.parametrize("path", ["/admin/login/", "/api/session/login"])
def test_a_control_character_in_a_form_breaks_nothing(db, path, field):
    client = Client(raise_request_exception=False)
    for text in ("\x00", "a\nb", "\x85"):
        form = {"username": "olga@example.com", "password": PASSWORD, "next": "/", field: text}
        assert client.post(path, form).status_code == 200


@ALL
@example(path="/api/schema", query="version=%0a", cookie="", headers={})
@example(path="/api/trips", query="", cookie='sessionid="' + "k" * 32 + '\\000"', headers={})
@given(path=strange.paths, query=strange.queries, cookie=strange.cookies, headers=strange.headers)
def test_no_strange_request_is_an_error_of_the_server(
    browser, session, path, query, cookie, headers
):
    for cookies in (f"{cookie}; sessionid={session}", cookie):
        sent = {"Cookie": cookies} | headers
        response = with_cookies(browser, sent.pop("Cookie"), f"{path}?{query}", headers=sent)
        assert response.status_code < 500
        for name, value in response.headers.items():
            assert value.isprintable(), (name, value)


@ALL
@given(operation=st.sampled_from([op for op in OPERATIONS if op.method == "GET"]), data=st.data())
def test_no_strange_read_of_the_api_is_an_error_of_the_server(api, ada, trip, operation, data):
    client = api(ada)
    client.raise_request_exception = False
    known = {"tripId": trip.pk, "userId": ada.pk, "code": trip.code, "email": ada.email}
    url = operation.url({**ANY_IDS, **known})
    headers = data.draw(strange.headers)
    headers.pop("Authorization", None)
    response = client.get(f"{url}?{data.draw(strange.queries)}", headers=headers)
    assert response.status_code < 500
    assert all(value.isprintable() for value in response.headers.values())


def test_a_parameter_of_the_document_comes_back_in_no_header(client):
    evil = quote('evil";x=y')
    for name in ("version", "lang", "format", "title"):
        response = client.get(f"/api/schema?{name}={evil}")
        assert response.status_code in {200, 406}
        assert "evil" not in str(response.headers)
        assert b"evil" not in response.content
