"""Which databases this version can run on: the steps are in docs/schema.md.

A database must have every migration of the code. It may have later ones: they only add, unless one
of them raises the floor, the oldest version that may still run.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from django.apps import apps
from django.db import ProgrammingError, connection
from django.db.migrations import RunSQL
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Value

#: App and name.
Migrations = frozenset[tuple[str, str]]

_RAISE = """
    INSERT INTO kit_schemafloor (app, migration) VALUES (%s, %s)
    ON CONFLICT (app) DO UPDATE SET migration = excluded.migration
"""


class Code(NamedTuple):
    """The migrations of this version: the last one of each app, and all of them."""

    latest: Migrations
    all: Migrations


def raise_schema_floor(app: str, migration: str) -> RunSQL:
    """An operation: from now on, only versions that have `migration` may run on this database.

    For a migration that removes what older versions use, or adds what they do not maintain. It
    depends on `("kit", "0001_tables_of_1_0_0")`. The floor stays if the migration is reversed.
    """
    return RunSQL([(_RAISE, [app, migration])], RunSQL.noop)


@cache
def migrations_of_code() -> Code:
    graph = MigrationLoader(None).graph
    replaced = {key for node in graph.nodes.values() for key in node.replaces}
    return Code(frozenset(graph.leaf_nodes()), frozenset(graph.nodes) | replaced)


def schema_mismatch() -> str:
    """Why this version cannot run on the database; empty if it can."""
    code = migrations_of_code()
    try:
        rows = list(_applied_and_floor())
    except ProgrammingError:
        return "The database is too old: it lacks the tables of migrations."
    missing = code.latest - {(app, name) for app, name, is_floor in rows if not is_floor}
    if missing:
        return f"The database is too old: it lacks {_names(missing)}."
    unknown = {(app, name) for app, name, is_floor in rows if is_floor} - code.all
    if unknown:
        return f"The database is too new: it needs a version that has {_names(unknown)}."
    return ""


def _applied_and_floor() -> Iterable[tuple[str, str, bool]]:
    """The applied migrations and the floor, in one statement, so both are of one moment."""
    applied = MigrationRecorder(connection).migration_qs.annotate(is_floor=Value(False))
    # `wsgi.py` imports this module before the models are loaded.
    floor = apps.get_model("kit", "SchemaFloor").objects.annotate(is_floor=Value(True))
    return applied.values_list("app", "name", "is_floor").union(
        floor.values_list("app", "migration", "is_floor"), all=True
    )


def _names(migrations: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{app}.{name}" for app, name in sorted(migrations))
