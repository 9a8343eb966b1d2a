"""Who brings a token needs no session; everybody else gets what browsers need."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories import PASSWORD

pytestmark = pytest.mark.once


@pytest.mark.parametrize("cookie", [True, False])
def test_a_request_with_a_token_reads_and_writes_no_session(api, trip, olga, cookie):
    client = api(olga)
    if cookie:
        client.force_login(olga)
    with CaptureQueriesContext(connection) as captured:
        response = client.get(f"/api/trips/{trip.pk}")
    assert response.status_code == 200
    assert captured.captured_queries
    assert [query["sql"] for query in captured if "django_session" in query["sql"]] == []
    assert "Set-Cookie" not in response.headers
    assert "Cookie" not in response.headers["Vary"].split(", ")


def test_an_answer_to_a_session_varies_with_its_cookie(client, olga):
    client.force_login(olga)
    response = client.get("/api/users/me")
    assert response.status_code == 200
    assert "Cookie" in response.headers["Vary"].split(", ")


def test_a_token_counts_more_than_the_session_of_a_browser(api, trip, olga, sam):
    client = api(sam)
    client.force_login(olga)
    assert client.get(f"/api/trips/{trip.pk}").status_code == 404
    client.credentials()
    assert client.get(f"/api/trips/{trip.pk}").status_code == 200


def test_a_page_of_the_browsable_api_opens_with_a_token_too(api, trip, olga):
    response = api(olga).get(f"/api/trips/{trip.pk}", headers={"Accept": "text/html"})
    assert response.status_code == 200
    assert "Olga Owner" in response.content.decode()


@pytest.mark.parametrize("header", [{}, {"HTTP_AUTHORIZATION": "Bearer x"}])
def test_the_log_in_of_browsers_wants_its_csrf_token_with_any_header(olga, header):
    def log_in(client, **form):
        fields = {"username": olga.email, "password": PASSWORD, **form}
        return client.post("/api/session/login", fields, **header)

    client = Client(enforce_csrf_checks=True)
    assert log_in(client).status_code == 403
    client.get("/api/session/login")
    assert log_in(client, csrfmiddlewaretoken=client.cookies["csrftoken"].value).status_code == 302
    assert client.get("/api/users/me").json()["email"] == olga.email
