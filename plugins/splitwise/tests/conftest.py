"""Fixtures of the API for Splitwise's clients."""

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import urlencode

import jsonschema
import pytest
from rest_framework.test import APIClient

from plugins.attachments.tests.conftest import folder
from tests.document import ROOT, parse_yaml
from tests.scoped import ALL, script_of
from tripcompanion.currency.amounts import to_major
from trips.models import Trip
from users.models import User

__all__ = ["folder"]
BASE = "/api/v3.0"
FORM = "application/x-www-form-urlencoded"
DOCUMENT = parse_yaml((ROOT / "plugins" / "splitwise" / "openapi.yaml").read_bytes())


@cache
def _answers_of(method: str, endpoint: str) -> Any:
    """What the document says of the answers of an endpoint, as a validator."""
    paths = DOCUMENT["paths"].items()
    [item] = [one for path, one in paths if path.split("/")[1:] == endpoint.split("/")]
    shared = item[method]["responses"]["200"]["$ref"].rpartition("/")[2]
    content = DOCUMENT["components"]["responses"][shared]["content"]["application/json"]
    schema = {**content["schema"], "components": DOCUMENT["components"]}
    return jsonschema.Draft202012Validator(schema)


def as_documented(method: str, path: str, answer: Any) -> Any:
    """The JSON of an answer; fails if one with 200 is not as the document says."""
    name, _slash, argument = path.partition("?")[0].partition("/")
    if answer.status_code == 200 and name != "schema":
        arguments = (one for one in DOCUMENT["paths"] if one.startswith(f"/{name}/"))
        _answers_of(method, next(arguments)[1:] if argument else name).validate(answer.json())
    return answer.json()


class Caller:
    """Somebody who calls the API with an API key; answers are as the document says."""

    def __init__(self, user: User, *scopes: str, **options: Any) -> None:
        token = script_of(user, *(scopes or ALL), **options).token
        self.user, self.http = user, APIClient(HTTP_AUTHORIZATION=f"Bearer {token}")

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        answer = self.http.get(f"{BASE}/{path}", query)
        assert answer.status_code == status, answer.content
        return as_documented("get", path, answer)

    def post(self, path: str, status: int = 200, /, form: bool = False, **body: Any) -> Any:
        if form:
            answer = self.http.post(f"{BASE}/{path}", urlencode(body), content_type=FORM)
        else:
            answer = self.http.post(f"{BASE}/{path}", body)
        assert answer.status_code == status, answer.content
        return as_documented("post", path, answer)

    def done(self, path: str, /, **body: Any) -> Any:
        """The answer to a write that succeeds."""
        answer = self.post(path, **body)
        assert not answer.get("errors"), answer
        assert answer.get("success", True), answer
        return answer

    def refused(self, path: str, /, **body: Any) -> dict[str, Any]:
        """Why a write is refused."""
        answer = self.post(path, **body)
        assert answer["errors"], answer
        assert not answer.get("success"), answer
        return answer["errors"]

    def spend(self, cost: str, paid: dict[User, str], owed: dict[User, str], **more: Any) -> Any:
        """Record an expense by exact shares."""
        body = {"cost": cost, "description": "Dinner", **shares(paid, owed), **more}
        return self.done("create_expense", **body)["expenses"][0]


def shares(paid: dict[User, str], owed: dict[User, str]) -> dict[str, str]:
    body: dict[str, Any] = {}
    for place, user in enumerate({**paid, **owed}):
        body[f"users__{place}__user_id"] = user.pk
        body[f"users__{place}__paid_share"] = paid.get(user, "0.0")
        body[f"users__{place}__owed_share"] = owed.get(user, "0.0")
    return body


def balances_of(trip: Trip) -> dict[int, Decimal]:
    """The balances of a trip, as our own API counts them, without those of zero."""
    members = trip.members.all()
    sums = {one.user_id: to_major(one.balance_minor, trip.currency) for one in members}
    return {user_id: balance for user_id, balance in sums.items() if balance}


@pytest.fixture(autouse=True)
def _served(settings: Any) -> None:
    settings.ROOT_URLCONF = "plugins.splitwise.tests.urls"


@pytest.fixture
def calling() -> Callable[..., Caller]:
    """`calling(olga)` calls with a key for everything, `calling(olga, "trips:read")` with less."""
    return Caller
