"""Migrations do not stop a version that is in use: two linters read the SQL of each.

The first migrations of an app are exempt, because their tables are empty.
"""

import json
import subprocess
import sysconfig
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader
from django_migration_linter.migration_linter import MigrationLinter
from django_migration_linter.sql_analyser import analyse_sql_statements

from tests.server import ROOT

APPS = ("kit", "users", "trips", "splits", "webhooks")
SQUAWK = Path(sysconfig.get_path("scripts"), "squawk")

#: Rules of django-migration-linter that squawk has too.
_TWICE = ("CREATE_INDEX", "CREATE_INDEX_EXCLUSIVE", "DROP_INDEX")

#: What is accepted, with the reason: by migration and by the linter's name of the rule.
EXCEPTIONS: Mapping[str, Mapping[str, str]] = {
    "splits.0030_rates_and_closings_of_settlements": {
        "adding-foreign-key-constraint": "The column is new and NULL, so no row is checked."
    },
    "splits.0032_indexes_and_constraints": {
        "ban-drop-constraint": "Those that take their place allow more."
    },
    "users.0010_answers": dict.fromkeys(
        ("ALTER_COLUMN", "changing-column-type"), "A longer varchar rewrites and checks no row."
    ),
}

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not settings.DATABASE_URL.startswith("postgres"), reason="the SQL is PostgreSQL's"
    ),
]


def linted():
    graph = MigrationLoader(None).graph
    return [
        migration
        for key, migration in sorted(graph.nodes.items())
        if key[0] in APPS and not migration.initial
    ]


def name_of(migration):
    return f"{migration.app_label}.{migration.name}"


def sql_of(migration):
    key = (migration.app_label, migration.name)
    return call_command("sqlmigrate", *key, stdout=StringIO()).splitlines()


def by_django_migration_linter(migration):
    linter = MigrationLinter(no_cache=True, no_output=True)
    for errors, _excluded, warnings in (
        analyse_sql_statements(linter.sql_analyser_class, sql_of(migration), _TWICE),
        linter.analyse_data_migration(migration),
    ):
        yield from (issue.code for issue in (*errors, *warnings))


def by_squawk(migration):
    statements = [line for line in sql_of(migration) if line not in {"BEGIN;", "COMMIT;"}]
    options = ["--assume-in-transaction"] if migration.atomic else ["--no-assume-in-transaction"]
    report = subprocess.run(
        [SQUAWK, "--config", ROOT / ".squawk.toml", "--reporter", "json", *options],
        input="\n".join(statements),
        capture_output=True,
        text=True,
        check=False,
    )
    for issue in json.loads(report.stdout):
        yield issue["rule_name"]


@pytest.mark.parametrize("migration", linted(), ids=name_of)
def test_a_migration_stops_nobody_or_has_a_reason(migration):
    found = {*by_django_migration_linter(migration), *by_squawk(migration)}
    assert found == set(EXCEPTIONS.get(name_of(migration), ()))


def test_no_exception_is_stale():
    assert EXCEPTIONS.keys() <= {name_of(migration) for migration in linted()}
