"""What a newer release wrote beside this one: words of columns that this release does not know.

Every column of an event, a role, a kind or a state is given one. Each operation then answers in
general words or refuses clearly, and the workers leave such rows to the newer release.
"""

import json
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.db import connection, models
from django.test import override_settings

from tests.admin_client import AdminClient
from tests.cast import one_of_the_cast
from tests.document import OPERATIONS, ROOT
from tests.stored import rolled_back
from tests.walked import all_of, urlconf
from users.models import Role

pytestmark = pytest.mark.once

#: Those of our own apps, without the codes of currencies, to which no release adds.
COLUMNS = [
    (model, field)
    for model in apps.get_models()
    if Path(model._meta.app_config.path).is_relative_to(ROOT)
    and ".venv" not in model._meta.app_config.path
    for field in model._meta.concrete_fields
    if isinstance(field, models.CharField) and field.choices and field.name != "currency"
]
FILES = (*all_of("FILES"),)


@pytest.fixture
def world(db, stored_world):
    """Rows with whose words a newer release has replaced the constraints."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        yield stored_world.with_new_client()
        cursor.execute("PRAGMA ignore_check_constraints = OFF")


def requests(world):
    """Every operation with each of its valid bodies, what makes files, and the other doors."""
    for operation in OPERATIONS:
        for body in world.bodies.get(str(operation), [None]):
            yield operation.method, world.url(operation), body
    for path in FILES:
        yield "GET", f"/api/trips/{world.ids['tripId']}/{path}", None
    for path in all_of("READ"):
        yield "GET", path, None


@pytest.mark.slow
@pytest.mark.parametrize(("model", "field"), COLUMNS, ids=str)
@override_settings(ROOT_URLCONF=urlconf())
def test_no_operation_fails_at_a_word_of_a_newer_release(world, model, field):
    model._base_manager.update(**{field.name: "newer"[: field.max_length]})
    faults = []
    for method, url, body in requests(world):
        sent = b"" if body is None else json.dumps(body).encode()
        with rolled_back():
            answer = world.client.generic(method, url, sent, content_type="application/json")
        if answer.status_code >= 500:
            faults.append((method, url, answer.status_code))
    assert not faults


@pytest.mark.parametrize(("model", "field"), COLUMNS, ids=str)
def test_the_admin_site_shows_words_of_a_newer_release(world, model, field):
    model._base_manager.update(**{field.name: "newer"[: field.max_length]})
    browser = AdminClient(one_of_the_cast("Ada Admin", role=Role.ADMIN))
    if model not in site._registry:
        return
    assert browser.list(model).status_code == 200
    for row in model._base_manager.all()[:2]:
        assert browser.page(row).status_code == 200
