"""Migrations do not stop a version that is in use: linters read the SQL of each.

The first migrations of an app are exempt, because their tables are empty. Those of a release keep
their names, because databases have recorded them; what was squashed is in a `replaces`.
"""

import json
import re
import subprocess
import sysconfig
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader
from django_migration_linter.migration_linter import MigrationLinter
from django_migration_linter.sql_analyser import analyse_sql_statements

from tests.server import ROOT

APPS = ("kit", "users", "trips", "splits", "webhooks")
SQUAWK = Path(sysconfig.get_path("scripts"), "squawk")

#: Rules of django-migration-linter that squawk has too.
_TWICE = ("CREATE_INDEX", "CREATE_INDEX_EXCLUSIVE", "DROP_INDEX")

#: The first tables that commands lock, in their order.
COMMANDS_LOCK = ("trips_trip", "trips_member", "splits_expense", "splits_settlement")

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
    "users.0012_words_of_any_length": dict.fromkeys(
        ("ALTER_COLUMN", "changing-column-type"), "A varchar as text rewrites and checks no row."
    ),
}


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


def out_of_order(migration):
    """Whether one transaction locks tables in another order than commands: each would wait."""
    if migration.atomic:
        altered = re.findall(r'^ALTER TABLE "(\w+)"', "\n".join(sql_of(migration)), re.MULTILINE)
        places = [COMMANDS_LOCK.index(table) for table in altered if table in COMMANDS_LOCK]
        if places != sorted(places):
            yield "order-of-locks"


@pytest.mark.postgresql  # whose SQL it is
@pytest.mark.django_db
@pytest.mark.parametrize("migration", linted(), ids=name_of)
def test_a_migration_stops_nobody_or_has_a_reason(migration):
    by_linters = (by_django_migration_linter, by_squawk, out_of_order)
    found = {code for linter in by_linters for code in linter(migration)}
    assert found == set(EXCEPTIONS.get(name_of(migration), ()))


@pytest.mark.once
def test_no_exception_is_stale():
    assert EXCEPTIONS.keys() <= {name_of(migration) for migration in linted()}


#: By app. A release adds those that it brings.
RELEASED = {
    "kit": """
        0001_initial 0002_initial 0003_schema_floor 0004_indexes
    """,
    "users": """
        0001_initial 0002_second_factor 0003_guests 0004_invitations 0005_notices
        0006_mail_expense 0007_mail_trip 0008_webhooks 0009_wal_position
    """,
    "trips": """
        0001_initial 0002_initial 0003_invitations 0004_claims 0005_journal 0006_indexes
        0007_deleted_trips 0008_index_of_deleted_trips
    """,
    "splits": """
        0001_initial 0002_initial 0003_initial 0004_merged 0005_restore 0006_comments
        0007_webhooks 0008_audit_snapshot 0009_indexes 0010_payer_trip 0011_split_trip
        0012_allocation_trip 0013_closedsum_trip 0014_comment_trip 0015_fill_trips
    """,
}


@pytest.mark.once
@pytest.mark.parametrize("app", RELEASED)
def test_what_was_released_is_neither_renamed_nor_forgotten(app):
    known = MigrationLoader(None).disk_migrations
    replaced = {key for migration in known.values() for key in migration.replaces}
    assert {(app, name) for name in RELEASED[app].split()} <= {*known, *replaced}
