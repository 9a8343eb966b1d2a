"""Everything in the database, to compare it before and after a request, and to roll it back."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.apps import apps
from django.db import connection, transaction


class Stored(NamedTuple):
    """The rows of a table, and the names of their columns."""

    columns: Sequence[str] = ()
    rows: Sequence[tuple[Any, ...]] = ()


def everything_stored() -> dict[str, Stored]:
    """All rows of all tables; read past the ORM, which would take most of the suite's time."""
    models = apps.get_models()
    with_rows = set(filled(model._meta.db_table for model in models))
    stored = {model._meta.label: Stored() for model in models}
    with connection.cursor() as cursor:
        for meta in (model._meta for model in models if model._meta.db_table in with_rows):
            cursor.execute(f'SELECT * FROM "{meta.db_table}" ORDER BY "{meta.pk.column}"')  # noqa: S608 -- names only
            rows = cursor.fetchall()
            stored[meta.label] = Stored([column[0] for column in cursor.description], rows)
    return stored


def filled(tables: Iterable[str]) -> list[str]:
    """Those of the tables that have rows; one statement, because most have none."""
    parts = (f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM \"{name}\")" for name in tables)  # noqa: S608 -- names only
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return [name for (name,) in cursor.fetchall()]


@contextmanager
def rolled_back() -> Iterator[None]:
    """Roll back what is stored inside."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
