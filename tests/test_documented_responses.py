"""Every operation answers and refuses as `openapi.yaml` says."""

import json
import re
from collections import defaultdict

import pytest

from tests.document import OPERATIONS, operation_at, require_valid
from tests.factories import PASSWORD, UserFactory
from tests.security.environment import no_connections
from tests.stored import rolled_back
from tests.trips.rows import ROWS
from tests.walked import all_of, answers

#: They show a new secret, once.
SHOWS_SECRET = {*all_of("SHOWS_SECRET")}
#: Whether there is such a way to log in.
WAYS_IN = {"GET /api/users/login/methods": {"password"}}
SECRET = re.compile(r"password|hash|token(?!s?$)|is_?staff|superuser|last_?login|secret|jti", re.I)
#: The same for everybody, for a week.
FOR_ALL = {"GET /api/currencies", "GET /api/categories"}


class Caller:
    """A client that holds every answer against the document."""

    def __init__(self, client, answered):
        self.client, self.answered = client, answered

    def __call__(self, method, path, body=None, status=200):
        response = getattr(self.client, method.lower())(f"/api/{path}", body)
        assert response.status_code == status, response.content
        operation = operation_at(method, f"/api/{path}")
        require_valid(operation, response)
        if status < 300:
            self.answered.add(str(operation))
        return response.json() if response.content else None


@pytest.mark.either
def test_every_operation_answers_as_documented(world, api):
    """T48, T105, T109, T128: A response has its headers and no secret; only the database is called.

    No address in a body is opened. The first success of each row of `tests.trips.rows` is held
    against the document by `test_permissions.py`.
    """
    answered = {
        str(operation_at(row.method, re.sub(r"{\w+}", "1", row.route)))
        for row in ROWS
        if row.can is not None or any(status < 300 for status in _statuses(row))
    }
    with no_connections():
        for operation in OPERATIONS:
            for body in world.bodies.get(str(operation), [{}]):
                with rolled_back():
                    sent = json.dumps(body).encode()
                    response = world.send(operation, sent, query=operation.required_query())
                require_valid(operation, response)
                require_guarded(operation, response)
                if response.status_code < 300:
                    answered.add(str(operation))
                    require_no_secret(operation, response)
    for use in answers("use"):
        use(Caller(api(UserFactory()), answered), Caller(api(None), answered))
    assert answered >= {str(operation) for operation in OPERATIONS}


def _statuses(row):
    for statuses in (row.statuses, row.own):
        yield from (statuses or {}).values()


def require_guarded(operation, response):
    """Every answer says what browsers and caches may do with it."""
    headers = response.headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["X-Request-ID"]
    kind = headers.get("Content-Type", "json").partition(";")[0]
    policy = ["default-src 'none'", "frame-ancestors 'none'"]
    sent = headers["Content-Security-Policy"].split("; ")
    assert sent == policy if kind.endswith("json") else {*policy} <= {*sent}
    if headers["Cache-Control"] != "no-store":
        is_private = kind in all_of("PRIVATELY_CACHED") and "private" in headers["Cache-Control"]
        assert is_private or str(operation) in FOR_ALL, operation


def require_no_secret(operation, response):
    if response.headers.get("Content-Type") == "application/json":
        named = {"secret"} if str(operation) in SHOWS_SECRET else set()
        found = {key for key in keys(response.json()) if SECRET.search(key)}
        assert found == WAYS_IN.get(str(operation), named), operation
        assert PASSWORD not in response.content.decode()


def keys(value):
    """The names in all objects of an answer."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from keys(item)


def test_every_operation_refuses_as_documented(api, ada):
    def refusals(operation):
        def send(client, body=b"", content_type="application/json", **headers):
            url = operation.url(defaultdict(lambda: 999_999))
            return client.generic(operation.method, url, body, content_type, **headers)

        yield send(admin, headers={"Accept": "text/x-unknown"})
        if not operation.is_open:
            yield send(anybody)
        if "Id}" in operation.path:
            yield send(admin)
        elif operation.body:
            for body in (b"{", b"{}", b"[" * 5000, b" " * (1024 * 1024 + 1)):
                yield send(admin, body)
            yield send(admin, b"{}", "text/plain")

    admin, anybody = api(ada), api(None)
    for operation in OPERATIONS:
        for response in refusals(operation):
            assert response.status_code >= 400, operation
            require_valid(operation, response)
