"""Who brings a token needs no session; everybody else gets what browsers need."""

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from tests.conftest import Api
from tests.factories import PASSWORD
from tripcompanion.kit.browsers import is_program
from trips.models import Trip
from users.models import User


@pytest.mark.parametrize(
    ("path", "token", "expected"),
    [
        ("/api/trips", "Bearer x", True),
        ("/api/trips", None, False),
        ("/api/session/login", "Bearer x", False),
        ("/admin/", "Bearer x", False),
        ("/apiary", "Bearer x", False),
    ],
)
def test_only_a_token_to_the_api_says_that_it_is_a_program(
    path: str, token: str | None, expected: bool
) -> None:
    headers = {"HTTP_AUTHORIZATION": token} if token else {}
    assert is_program(RequestFactory().get(path, **headers)) is expected


def test_a_token_counts_more_than_the_session_of_a_browser(
    api: Api, trip: Trip, olga: User, sam: User
) -> None:
    client = api(sam)
    client.force_login(olga)
    assert client.get(f"/api/trips/{trip.pk}").status_code == 404
    client.credentials()
    assert client.get(f"/api/trips/{trip.pk}").status_code == 200


def test_a_page_of_the_browsable_api_opens_with_a_token_too(
    api: Api, trip: Trip, olga: User
) -> None:
    response = api(olga).get(f"/api/trips/{trip.pk}", headers={"Accept": "text/html"})
    assert response.status_code == 200
    assert "Olga Owner" in response.content.decode()


@pytest.mark.parametrize("header", [{}, {"HTTP_AUTHORIZATION": "Bearer x"}])
def test_the_log_in_of_browsers_wants_its_csrf_token_with_any_header(
    olga: User, header: dict[str, str]
) -> None:
    def log_in(client: Client, **form: str) -> HttpResponse:
        fields = {"username": olga.email, "password": PASSWORD, **form}
        return client.post("/api/session/login", fields, **header)

    client = Client(enforce_csrf_checks=True)
    assert log_in(client).status_code == 403
    client.get("/api/session/login")
    token = client.cookies["csrftoken"].value
    assert log_in(client, csrfmiddlewaretoken=token).status_code == 302
    assert client.get("/api/users/me").json()["email"] == olga.email
