"""Without the extra `splitwise`, API keys work, and nothing else lets a program in."""

from pathlib import Path

import httpx
import pytest

from tests.passwords import PASSWORD
from tests.server import running_server

pytestmark = pytest.mark.once

#: Python runs it at its start, so that the toolkit seems not to be installed.
HIDING = """
import sys
from importlib.machinery import PathFinder


class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = {"oauth2_provider", "oauthlib"}
        return None if name in hidden else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("without")
    (folder / "sitecustomize.py").write_text(HIDING)
    with running_server(SPLITWISE_API="true", PYTHONPATH=str(folder)) as running:
        yield running


def test_an_api_key_is_accepted_and_no_program_logs_in(server):
    with httpx.Client(base_url=server.url) as http:
        account = {"email": "olga@example.com", "password": PASSWORD}
        http.headers["Authorization"] = (
            f"Bearer {http.post('/api/users/register', json=account).json()['token']}"
        )
        key = {"name": "Program", "scopes": ["trips:read"]}
        token = http.post("/api/users/me/tokens", json=key).json()["token"]
        http.headers["Authorization"] = f"Bearer {token}"
        me = http.get("/api/v3.0/get_current_user")
        assert (me.status_code, me.json()["user"]["email"]) == (200, account["email"])
        for method, path in (("GET", "/oauth/authorize"), ("POST", "/oauth/token")):
            assert http.request(method, path).status_code == 404, path
