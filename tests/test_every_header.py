"""Every header with every method on every path: a clear answer, and never a 5xx (T210)."""

from itertools import product
from typing import Any

import pytest
from django.test import Client, override_settings

from tests import strange
from tests.document import ANY_IDS, METHODS, OPERATIONS
from tests.stored import rolled_back
from tests.walked import all_of, urlconf

pytestmark = pytest.mark.once

NAMED = {p["name"] for operation in OPERATIONS for p in operation.parameters("header")}
#: Those that a document names or a browser sends, with a value that is meant and one that is not.
VALUES = {
    "Idempotency-Key": ("a-key", ""),
    "If-Match": ("*", '"x"'),
    "If-None-Match": ("*", "x"),
    "Prefer": ("handling=lenient", "handling=,"),
    "Accept": ("text/html", "image/svg+xml"),
    "Content-Type": ("application/x-www-form-urlencoded", "x"),
    "Origin": ("http://localhost:4200", "null"),
    "Range": ("bytes=0-1", "x"),
    "X-App-Client": ("mapmyjourney", "x"),
    "X-HTTP-Method-Override": ("DELETE", "x"),
}
#: Those that no path of the document has.
OTHER_METHODS = ("head", "options", "trace", "query")


def paths():
    """Every path of our documents, of pages and of the doors beside them, each once."""
    yield from {operation.path: None for operation in OPERATIONS}
    yield from all_of("PATHS")
    yield from (*strange.PAGES, "/", "/api", "/nothing")


def methods_of(path):
    """Those that a path has, and one that it has not: all of these are refused in one place."""
    served = [op.method.lower() for op in OPERATIONS if op.path == path]
    if not served:
        return [*METHODS, *OTHER_METHODS]
    return [*served, next(name for name in METHODS if name not in served), *OTHER_METHODS[:2]]


def test_the_table_has_every_header_of_the_document():
    assert {*VALUES} >= NAMED - {"Accept-Language", "X-Request-ID"}


@pytest.mark.parametrize(
    ("who", "header"),
    [
        pytest.param(*one, marks=[pytest.mark.slow] * (one != ("somebody", "Idempotency-Key")))
        for one in product(["somebody", "nobody"], VALUES)
    ],
)
@override_settings(ROOT_URLCONF=urlconf())
def test_no_header_is_an_error_of_the_server(world, who, header):
    """T210: No header on any path is an error of the service."""
    client: Any = world.client if who == "somebody" else Client(raise_request_exception=False)
    ids = {**ANY_IDS, **world.ids, "id": world.ids["tripId"]}
    faults = []
    for path in paths():
        url = path
        for name, value in ids.items():
            url = url.replace(f"{{{name}}}", str(value))
        for method in methods_of(path):
            for value in VALUES[header]:
                with rolled_back():
                    answer = client.generic(method.upper(), url, headers={header: value})
                if answer.status_code >= 500:
                    faults.append((method, path, value, answer.status_code))
    assert not faults
