"""The indexes of the search in PostgreSQL, one for each table with texts that it finds.

They are not in migrations, because the tables belong to other apps: `make_indexes` makes those that
are missing after each migration, whatever is installed, while others write to the tables. Without
them the search finds the same. SQLite has none; there it reads what the caller may see.
"""

from functools import reduce
from typing import Any
from zlib import crc32

from django.db import connections

from plugins.search.expressions import document_sql
from tripcompanion.plugin import Searched
from trips.models.events import trip_objects

_PREFIX = "search_texts_"
#: Those that are there, and whether they were finished.
_FOUND = """
    SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE starts_with(relname, %s) AND pg_table_is_visible(indexrelid)
"""


def make_indexes(using: str = "default", **_signal: Any) -> None:
    """Make the indexes that are missing, and drop those that nothing uses any more."""
    connection = connections[using]
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(_FOUND, [_PREFIX])
        found = dict(cursor.fetchall())
        # Somebody may have unapplied migrations of another app, to remove its tables.
        tables = set(connection.introspection.table_names(cursor))
    wanted = {name: text for name, (table, text) in wanted_indexes().items() if table in tables}
    with connection.schema_editor(atomic=False) as editor:
        for name in found:
            if name not in wanted or not found[name]:
                editor.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{name}"')
        for name, definition in wanted.items():
            if not found.get(name):
                editor.execute(f'CREATE INDEX CONCURRENTLY "{name}" ON {definition}')


def wanted_indexes() -> dict[str, tuple[str, str]]:
    """The tables, and what is indexed of them, by a name that changes with it."""
    definitions = [
        _definition(shape.rows().model, shape.searched)
        for shape in trip_objects().values()
        if shape.searched
    ]
    return {f"{_PREFIX}{crc32(text.encode()):08x}": (table, text) for table, text in definitions}


def _definition(model: Any, searched: Searched) -> tuple[str, str]:
    """A table with the words in its columns; the texts of an object are all in one table."""
    *relations, _column = searched.texts[0].split("__")
    owner = reduce(lambda at, name: at._meta.get_field(name).related_model, relations, model)
    names = [text.rpartition("__")[2] for text in searched.texts]
    columns = [f'"{owner._meta.get_field(name).column}"' for name in names]
    table = owner._meta.db_table
    return table, f'"{table}" USING gin ({document_sql(columns)})'
