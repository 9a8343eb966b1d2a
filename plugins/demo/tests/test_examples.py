"""The examples of the OpenAPI document are true: the service answers them as documented.

`make examples` writes the responses into the `examples.yaml` of each app, for you to read.
"""

import json
import os
from collections import defaultdict
from decimal import Decimal
from io import StringIO
from urllib.parse import urlencode

import pytest
import yaml
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection

from plugins.invitations.models import Invitation
from splits.models.plugin_fields import plugin_fields
from tests.document import OPERATIONS
from tests.walked import answers, merged
from tripcompanion.api.serializers import camel_case
from tripcompanion.openapi.examples import example_files, examples
from trips.models import Trip
from users.mail_templates import MailTemplate
from users.models import EmailToken, Session, User
from users.tokens import token_pair

pytestmark = pytest.mark.once

#: The token in the paths of examples, for which the test puts that of a new invitation.
INVITATION = "tci_h3ZqvX0aR7wQ"
#: What the clock or chance decides, with what `make examples` writes instead.
VOLATILE = {
    "at": "2026-05-14T21:40:00Z",
    "createdAt": "2026-05-14T21:40:00Z",
    "confirmedAt": "2026-05-14T21:40:00Z",
    "updatedAt": "2026-05-14T21:40:00Z",
    "joinedAt": "2026-05-01T09:31:00Z",
    "recordedAt": "2026-05-14T21:40:00Z",
    "lastUsedAt": "2026-05-14T18:20:00Z",
    "usedAt": "2026-05-14T18:20:00Z",
    "expiresAt": "2026-08-12T21:40:00Z",
    "emailVerifiedAt": "2026-05-01T09:31:00Z",
    "paidAt": "2026-05-20T08:00:00Z",
    "coveredAt": "2026-05-20T08:00:00Z",
    "exportedAt": "2026-05-21T08:00:00Z",
    "rateDay": "2026-05-14",
    "rate.date": "2026-05-14",
    "settledOn": "2026-05-20",
    "exchangeRateDate": "2026-05-14",
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.signature",
    "refreshToken": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.signature",
    "hint": "tc_h3Zqv",
    "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
    "messageId": "msg_0f3c5a7e9b1d4c2f8a6e0b2d4f6a8c0e",
    "link": f"http://localhost:4200/invitation?token={INVITATION}",
    "tripCode": "K7WQ2MXA",
    **merged("VOLATILE"),
    "requestId": "5c1d3f0e9b7a4d60a1c2e3f405162738",
    "device": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "address": "203.0.113.7",
}
SESSION_ID = "0c9d2c1e-6f0b-4a58-9b1c-3d2f5f1f3a77"
SHORTENED_ROWS = 2


@pytest.fixture
def demo(django_db_reset_sequences, settings, tmp_path):
    """A fresh service with the demo data."""
    settings.DEBUG = True
    # The folder of the checkout may have a `.env` of its own.
    settings.DATA_DIR = tmp_path
    call_command("demo", stdout=StringIO())


def in_reading_order():
    for operation in OPERATIONS:
        for example in examples().get(operation.spec["operationId"], ()):
            yield operation, example


def secret(name, operation):
    """A value that only the service knows: the token of a mailed link, or of a session."""
    user = User.objects.get(email="lucia@example.com")
    for secret_of in answers("secret_of"):
        if found := secret_of(user, name, operation.path):
            return found
    if name == "refreshToken":
        return token_pair(Session.start(user)).refresh_token
    if operation.path.endswith("verify-email"):
        return EmailToken.make(user, MailTemplate.VERIFY)
    return EmailToken.make(user, MailTemplate.RESET)


def by_olga():
    return User.objects.get(email="olga@example.com")


def answer(api, operation, example):
    user = User.objects.get(email=f"{example.caller}@example.com") if example.caller else None
    client = api(user)
    for line in example.first.splitlines():
        method, url, *sent = line.split(maxsplit=2)
        before = client.generic(method, url, "".join(sent).encode(), "application/json")
        assert before.status_code in {200, 201, 204}, line
    body = example.body
    if example.secrets:
        body = {**body, **{name: secret(name, operation) for name in example.secrets}}
    path = dict(example.path)
    if path.get("token") == INVITATION:
        path["token"] = Invitation.issue(Trip.objects.get(pk=6), by_olga(), role="VIEWER").token
    query = dict(example.query)
    for fit_query in answers("fit_query"):
        fit_query(query, client, user)
    url = f"{operation.url(path)}?{urlencode(query)}".rstrip("?")
    data = b"" if body is None else json.dumps(body).encode()
    response = client.generic(operation.method, url, data, "application/json")
    assert response.status_code == example.status, (example, response.content)
    if response.status_code >= 400:
        _reuse_ids()
    return without_plugin_fields(json.loads(response.content)) if response.content else None


def without_plugin_fields(actual):
    """An answer without the fields of expenses that the examples, which are the core's, lack."""
    if isinstance(actual, list):
        return [without_plugin_fields(row) for row in actual]
    if not isinstance(actual, dict):
        return actual
    of_plugins = {camel_case(name) for name in plugin_fields()} if "expenseDate" in actual else ()
    return {k: without_plugin_fields(one) for k, one in actual.items() if k not in of_plugins}


def _reuse_ids():
    """Give the id of a refused account to the next one, as SQLite does; PostgreSQL skips it."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [User]):
            cursor.execute(statement)


def volatile_name(path):
    """The key in `VOLATILE` of the value at `path`: its name, alone or with that of its parent."""
    names = path.split(".")
    return next((key for key in (names[-1], ".".join(names[-2:])) if key in VOLATILE), None)


def differences(shown, actual, path="", *, shortened):
    """Where `actual` is not what the example shows, apart from what clock and chance decide."""
    if isinstance(shown, dict) and isinstance(actual, dict):
        if shown.keys() != actual.keys():
            yield f"{path}: {sorted(shown)} != {sorted(actual)}"
        for key in shown.keys() & actual.keys():
            yield from differences(shown[key], actual[key], f"{path}.{key}", shortened=shortened)
    elif isinstance(shown, list) and isinstance(actual, list):
        wanted = min(len(actual), SHORTENED_ROWS) if shortened else len(actual)
        if len(shown) != wanted:
            yield f"{path}: {len(shown)} rows, not {wanted}"
        for row, (one, other) in enumerate(zip(shown, actual, strict=False)):
            yield from differences(one, other, f"{path}.{row}", shortened=shortened)
    elif volatile_name(path) or shown == SESSION_ID:
        if type(shown) is not type(actual):
            yield f"{path}: {shown!r}, not {actual!r}"
    elif shown != actual:
        yield f"{path}: {shown!r}, not {actual!r}"


def test_every_example_is_answered_as_the_document_shows(demo, api, monkeypatch):
    for resolve in answers("resolve"):
        resolve(monkeypatch)
    writing = bool(os.environ.get("WRITE_EXAMPLES"))
    wrong, responses = {}, defaultdict(dict)
    for operation, example in in_reading_order():
        actual = answer(api, operation, example)
        operation_id = operation.spec["operationId"]
        responses[operation_id][example.name] = actual
        found = list(differences(example.response, actual, shortened=example.shortened))
        if found:
            wrong[operation_id, example.name] = found
    if writing:
        write(responses)
    else:
        assert wrong == {}


def test_every_body_has_an_example_that_succeeds_and_names_are_unique():
    for operation in OPERATIONS:
        found = examples().get(operation.spec["operationId"], ())
        assert len({example.name for example in found}) == len(found), operation
        if operation.body:
            assert any(example.status < 300 for example in found), operation
    known = {operation.spec["operationId"] for operation in OPERATIONS}
    assert examples().keys() <= known


def test_the_parts_in_the_examples_add_up():
    checked = 0
    for _operation, example in in_reading_order():
        answered = example.response
        if isinstance(answered, dict) and {"splits", "tripAmount"} <= answered.keys():
            parts = sum(Decimal(str(split["amount"])) for split in answered["splits"])
            assert parts == Decimal(str(answered["tripAmount"])), example.name
            checked += 1
    assert checked >= 12
    for example in examples()["listBalances"]:
        total = sum(Decimal(str(row["balance"])) for row in example.response)
        assert total == 0, example.name


def write(responses):
    """Write the responses into the files of the apps."""
    for file in example_files():
        content = yaml.safe_load(file.read_text())
        for operation_id, rows in content.items():
            for row in rows:
                actual = responses[operation_id][row["name"]]
                row["response"] = shown(actual, shortened=row.get("shortened", False))
                if row["response"] is None:
                    del row["response"]
        dumped = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
        file.write_text(dumped)


def shown(actual, path="", *, shortened):
    """A response as an example shows it."""
    if isinstance(actual, dict):
        return {
            key: shown(value, f"{path}.{key}", shortened=shortened) for key, value in actual.items()
        }
    if isinstance(actual, list):
        rows = actual[:SHORTENED_ROWS] if shortened else actual
        return [shown(row, f"{path}.{at}", shortened=shortened) for at, row in enumerate(rows)]
    if path.endswith(".id") and isinstance(actual, str) and len(actual) == len(SESSION_ID):
        return SESSION_ID
    name = volatile_name(path)
    # A `messageId` is also the number of a message of a trip.
    return VOLATILE[name] if name and isinstance(actual, str) else actual
