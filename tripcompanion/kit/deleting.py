"""Deletes rows with all that hangs on them, and reads none of it.

Django reads what it is to delete, row by row, to look for what hangs on that in turn. Here each
table loses its rows by themselves, those first that nothing hangs on. No signals are sent.

Every statement is bounded: it deletes a batch of rows at most, and checks their foreign keys
itself. PostgreSQL would put the checks off to the COMMIT, which then takes as long as they all do,
and which no statement time-out ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections, models, transaction
from django.db.models.deletion import get_candidate_relations_to_delete

#: Rows that one statement deletes. With the checks PostgreSQL takes about a second at most.
_BATCH_ROWS = 20_000


def delete_unread(rows: models.QuerySet[Any]) -> None:
    """Delete `rows` and, as far as `CASCADE` goes, all that points to them.

    Raises `TypeError` if something points to them in another way: that would have to be looked at.
    """
    with transaction.atomic(), _checked_at_once(rows.db):
        _delete_from_the_leaves(rows)


@contextmanager
def _checked_at_once(database: str) -> Iterator[None]:
    """Each statement checks its foreign keys; SQLite does so anyway."""
    connection = connections[database]
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        yield
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def _delete_from_the_leaves(rows: Any) -> None:
    relations: Any = get_candidate_relations_to_delete(rows.model._meta)
    for relation in relations:
        if relation.on_delete is not models.CASCADE:
            raise TypeError(f"{relation.related_model.__name__}.{relation.field.name}")
        owners = {f"{relation.field.name}__in": rows.values("pk")}
        _delete_from_the_leaves(relation.related_model._base_manager.filter(**owners))
    batch = rows.model._base_manager.filter(pk__in=rows.order_by().values("pk")[:_BATCH_ROWS])
    while batch._raw_delete(rows.db) == _BATCH_ROWS:
        pass
