"""A version runs on a database that later versions have only added to, and on no other."""

import logging
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState
from rest_framework.test import APIClient

from tripcompanion.database.models import SchemaFloor
from tripcompanion.database.schema_floor import migrations_of_code, raise_schema_floor

LATER = ("splits", "9998_later")
LATEST = ("splits", "9999_even_later")
FLOOR = ("kit", "0001_tables_of_1_0_0")

pytestmark = pytest.mark.django_db


def apply(app, name, *operations):
    """Apply a migration that this version does not have."""
    migration = Migration(name, app)
    migration.operations = list(operations)
    # Not entered, because SQLite's cannot be inside the transaction of a test.
    migration.apply(ProjectState(), connection.schema_editor())
    MigrationRecorder(connection).record_applied(app, name)


def readiness():
    return APIClient().get("/api/health/ready").status_code


def test_a_database_with_later_migrations_is_accepted():
    apply(*LATER)
    apply("luggage", "0001_initial")
    assert readiness() == 200
    out = StringIO()
    call_command("check_schema", stdout=out)
    assert out.getvalue() == "This version can run on the database.\n"


def test_a_database_that_needs_a_later_version_is_refused(caplog):
    apply(*LATER)
    apply(*LATEST, raise_schema_floor(*LATER))
    with caplog.at_level(logging.WARNING):
        response = APIClient().get("/api/health/ready")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
    assert b"_later" not in response.content
    assert "too new: it needs a version that has splits.9998_later." in caplog.text
    with pytest.raises(CommandError, match=r"too new: .* splits\.9998_later"):
        call_command("check_schema")
    assert APIClient().get("/api/health").status_code == 200


@pytest.mark.usefixtures("migrations")
def test_the_floor_of_an_app_is_raised_and_other_apps_keep_theirs():
    mine = max(name for app, name in migrations_of_code().all if app == "splits")
    for floor in (("splits", "0001_initial"), ("users", "0001_initial"), ("splits", mine)):
        apply(*LATER, raise_schema_floor(*floor))
        assert readiness() == 200
    rows = SchemaFloor.objects.values_list("app", "migration")
    assert {("splits", mine), ("users", "0001_initial")} <= set(rows)


@pytest.mark.usefixtures("migrations")
def test_a_database_that_is_too_old_is_refused_with_the_reason():
    app, name = next(one for one in migrations_of_code().latest if one[0] == "trips")
    MigrationRecorder(connection).record_unapplied(app, name)
    assert readiness() == 503
    with pytest.raises(CommandError, match=rf"too old: it lacks trips\.{name}\."):
        call_command("check_schema")


def raised():
    """The migrations that raise the floor, with what they raise it to."""
    for migration in MigrationLoader(None).graph.nodes.values():
        for operation in migration.operations:
            for sql in getattr(operation, "sql", None) or ():
                if "kit_schemafloor" in sql[0]:
                    yield migration, tuple(sql[1])


def test_every_floor_is_an_earlier_migration():
    graph = MigrationLoader(None).graph
    for migration, floor in raised():
        before = graph.forwards_plan((migration.app_label, migration.name))[:-1]
        assert floor in before, migration
        assert FLOOR in before, migration


@pytest.mark.parametrize("is_ready", [True, False])
def test_readiness_takes_one_statement(is_ready, django_assert_num_queries):
    if not is_ready:
        apply(*LATEST, raise_schema_floor(*LATER))
    with django_assert_num_queries(1):
        assert readiness() == (200 if is_ready else 503)
