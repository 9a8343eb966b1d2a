"""Generated requests for every operation: no 5xx, no status or shape that is not documented."""

from itertools import count

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, connection
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.document import DOCUMENT, METHODS

pytest_plugins = ["schemathesis.pytest.plugin"]
# `make check` sends the same to a real server, by `tests.fuzz`.
pytestmark = pytest.mark.slow

#: One in so many of the systematic cases is sent, and all of the random ones. Requests are parsed
#: alike on both databases, so the slower one gets fewer.
KEPT, RANDOM = (3, 10) if connection.vendor == "sqlite" else (3, 3)

_APPLICATION = get_wsgi_application()


def application(environ, start_response):
    """The service, with its responses closed as servers do; schemathesis leaves files open."""
    response = _APPLICATION(environ, start_response)
    try:
        return [b"".join(response)]
    finally:
        response.close()


@pytest.fixture(
    params=[
        f"{method.upper()} {path}"
        for path, methods in DOCUMENT["paths"].items()
        for method in methods
        if method in METHODS
    ]
)
def operation(request):
    """One operation. Its cases are made in the test: to make all takes each process 15 seconds."""
    # schemathesis 4.32 reads and writes the attribute that held the name before pytest 9.2.
    request.node._nodeid = request.node.nodeid
    others = {"exclude-name": request.param, "enabled": False}
    config = schemathesis.Config.from_dict({"operations": [others]})
    schema = schemathesis.openapi.from_dict(DOCUMENT, config=config)
    schema.app = application
    # A generated `If-Match` is refused before the body is looked at.
    schema.config.checks.negative_data_rejection.expected_statuses = [*map(str, range(400, 430))]
    return schema


@pytest.fixture
def world(db, stored_world):
    """A world in one transaction; the WSGI handler must not end it by closing the connection."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield stored_world
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def turn():
    """Counts the systematic cases of an operation."""
    return count()


@pytest.mark.usefixtures("world")
@schemathesis.pytest.from_fixture("operation").parametrize()
@settings(
    max_examples=RANDOM,
    derandomize=True,
    # One world for all examples of an operation, so that they meet what earlier ones left.
    suppress_health_check=list(HealthCheck),
)
def test_generated_requests_are_answered_as_documented(case, world, turn):
    if case.meta.phase.name is TestPhase.COVERAGE and next(turn) % KEPT:
        return
    if "" in (case.query or {}).values():
        # An empty parameter counts as an absent one; a schema cannot say so.
        return
    path = case.meta.components.get(ParameterLocation.PATH)
    if path is not None and path.mode is GenerationMode.POSITIVE:
        known = world.ids_at(case.operation.path)
        case.path_parameters = {name: known[name] for name in case.path_parameters}
    # Some rules cannot be said in a schema: a trip ends after it starts, splits add up.
    case.call_and_validate(headers=world.headers, excluded_checks=[positive_data_acceptance])
