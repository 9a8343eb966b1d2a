"""The ways in: the root of the API, the icon, and paths with a trailing slash."""

import re
import struct

import pytest
from django.conf import settings
from django.test import Client
from rest_framework.test import APIClient

from tests.cast import Api
from tests.document import problem_of
from tests.scoped import script_of
from tests.users.logins import bearer
from tests.walked import all_of
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.once

OPEN = {"docs", "schema", "health", "currencies", "categories"}
ACCOUNT = {"me", "sessions", "tokens", *all_of("LINKS")}
DEBTS = {"pendingDebts", "totalDebt"}


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


@pytest.mark.parametrize("path", ["/api", "/api/docs"])
def test_pages_name_the_icon(client: Client, db: None, path: str) -> None:
    page = client.get(path, headers={"Accept": "text/html"}).content.decode()
    assert re.search(r'<link rel="icon" href="/favicon.svg"', page)


# -- The root of the API ---------------------------------------------------------------------------


def links_of(client: APIClient) -> dict[str, str]:
    response = client.get("/api")
    assert response.status_code == 200
    links = response.json()
    assert links.pop("version") == settings.SPECTACULAR_SETTINGS["VERSION"]
    return links


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
    assert response.json().keys() == OPEN | {"version", "register", "login"}


def test_every_link_of_the_root_is_there_and_may_be_followed(api: Api, olga: User) -> None:
    client = api(olga)
    for name, url in links_of(client).items():
        assert url.startswith("http://testserver/api/")
        assert client.get(url.removeprefix("http://testserver")).status_code == 200, name


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
