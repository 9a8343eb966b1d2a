"""The root of the API: links to what the caller may use."""

import pytest
from django.conf import settings

from tests.scoped import script_of
from tests.users.logins import bearer
from tests.walked import all_of

pytestmark = pytest.mark.once

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
