"""Turns the tables of a migrated database into tables that Citus distributes by trip.

All rows of a trip are on one node, so a command in a trip is a transaction on one node. Users are a
reference table: a copy on every node, which foreign keys and joins may use. All other tables stay
on the coordinator.

Citus can only enforce unique constraints and foreign keys that contain the trip, so the trip is
added to them. Django does not know this and does not need to: an id is unique in the whole
database, because all ids come from sequences on the coordinator.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

from tripcompanion.database.schema_floor import schema_mismatch
from trips.models import Trip
from users.models import User

#: Sessions change one shard after the other, because a transaction that has changed a reference
#: table cannot use several connections to a node.
_SETTING = "citus.multi_shard_modify_mode TO sequential"

_CONSTRAINTS = """
    SELECT constrained.relname, con.conname, con.contype, pg_get_constraintdef(con.oid),
        COALESCE(referenced.relname, '')
    FROM pg_constraint con
    JOIN pg_class constrained ON constrained.oid = con.conrelid
    LEFT JOIN pg_class referenced ON referenced.oid = con.confrelid
    WHERE con.connamespace = current_schema()::regnamespace AND con.contype IN ('p', 'u', 'f')
    ORDER BY con.contype = 'f', con.conname
"""
_COLUMNS = re.compile(r"^(PRIMARY KEY|UNIQUE) \(([^)]*)\)$")
_REFERENCE = re.compile(r"^FOREIGN KEY \((\w+)\) REFERENCES (\w+)\(id\)(.*)$")


class Constraint(NamedTuple):
    """A primary key (p), unique rule (u) or foreign key (f) as PostgreSQL describes it."""

    table: str
    name: str
    kind: str
    definition: str
    #: The table that a foreign key refers to.
    referenced: str


class Command(BaseCommand):
    help = "Distribute the tables of a migrated database by trip; DATABASE_URL is a coordinator."

    def handle(self, *args: Any, **options: Any) -> None:
        for line in distribute():
            self.stdout.write(line)


def distributed_tables() -> dict[str, str]:
    """The column that contains the trip, by table. The table of the trips themselves is first.

    A row that names a trip, but may do without one, belongs to a user, and so does a row that
    refers to such a row.
    """
    columns: dict[Any, str] = {Trip: "id"}
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if field.related_model is Trip and not field.null:
                columns[model] = field.attname
    return {
        model._meta.db_table: column
        for model, column in columns.items()
        if {field.related_model for field in model._meta.local_fields} <= {*columns, User, None}
    }


def distribute() -> Iterator[str]:
    """Distribute all tables in one transaction; yields what it did. Raises `CommandError`."""
    _require_coordinator()
    tables = distributed_tables()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL {_SETTING}")
        cursor.execute(_CONSTRAINTS)
        constraints = [Constraint(*row) for row in cursor.fetchall()]
        affected = [c for c in constraints if {c.table, c.referenced} & tables.keys()]
        for constraint in reversed(affected):
            cursor.execute(f"ALTER TABLE {constraint.table} DROP CONSTRAINT {constraint.name}")
        _drop_triggers(cursor, tables)
        cursor.execute("DROP TABLE IF EXISTS splits_closedsum, splits_closedperiod")
        cursor.execute("SELECT create_reference_table(%s)", [User._meta.db_table])
        yield f"{User._meta.db_table}: on every node"
        for table, column in tables.items():
            cursor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL")
            together = "none" if table == Trip._meta.db_table else Trip._meta.db_table
            values = [table, column, together]
            cursor.execute("SELECT create_distributed_table(%s, %s, colocate_with => %s)", values)
            yield f"{table}: by {column}"
        for constraint in affected:
            statement = _widened(constraint, tables)
            if not statement:
                yield f"{constraint.table}: no {constraint.name} any more"
                # Of a unique constraint its index remains, and nothing of a foreign key.
                if match := _COLUMNS.match(constraint.definition):
                    statement = f"CREATE INDEX {constraint.name} ON {constraint.table} ({match[2]})"
            if statement:
                cursor.execute(statement)
        database = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"ALTER DATABASE {database} SET {_SETTING}")


def _require_coordinator() -> None:
    if connection.vendor != "postgresql":
        raise CommandError("DATABASE_URL must be a coordinator of Citus.")
    if mismatch := schema_mismatch():
        raise CommandError(f"Migrate it first. {mismatch}")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_extension WHERE extname = 'citus'")
        if cursor.fetchone() == (0,):
            raise CommandError("The database lacks the extension citus.")
        cursor.execute("SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards")
        if cursor.fetchone() == (0,):
            raise CommandError("No node may have shards; add workers with citus_add_node.")
        table = Trip._meta.db_table
        cursor.execute("SELECT count(*) FROM citus_tables WHERE table_name = %s::regclass", [table])
        if cursor.fetchone() != (0,):
            raise CommandError("The tables are distributed already.")


def _drop_triggers(cursor: Any, tables: Iterable[str]) -> None:
    """Drop the triggers that fill the trip for the previous release, which cannot run here."""
    for table in tables:
        name = f"{table}_set_trip_id"
        cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}")
        cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")


def _widened(constraint: Constraint, tables: dict[str, str]) -> str:
    """The statement that adds the constraint with the trip; empty if Citus cannot enforce it."""
    table, name, _kind, definition, referenced = constraint
    start = f"ALTER TABLE {table} ADD CONSTRAINT {name}"
    if match := _REFERENCE.match(definition):
        column, _table, rest = match.groups()
        if referenced in tables and table not in tables:
            return ""
        if referenced not in tables or referenced == Trip._meta.db_table:
            return f"{start} {definition}"
        return (
            f"{start} FOREIGN KEY ({column}, {tables[table]}) "
            f"REFERENCES {referenced} (id, {tables[referenced]}){rest}"
        )
    match = _COLUMNS.match(definition)
    if match is None:
        raise CommandError(f"{name} is unknown: {definition}")
    kind, columns = match.groups()
    names = columns.split(", ")
    if table == Trip._meta.db_table and "id" not in names:
        return ""
    with_trip = dict.fromkeys([*names, tables[table]])
    return f"{start} {kind} ({', '.join(with_trip)})"
