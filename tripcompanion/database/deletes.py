"""Deletes rows and all rows that reference them, without reading them.

Django reads the rows that it deletes to find what references them. Here each table's rows are
deleted by a subquery, those without references to them first. No signals are sent.

Every statement of `delete_unread` is bounded: it deletes at most one batch of rows and checks their
foreign keys immediately, also on PostgreSQL, where a COMMIT would take as long as all checks.
"""

from collections.abc import Callable
from typing import Any

from django.db import connections, models, transaction
from django.db.models.deletion import get_candidate_relations_to_delete

#: Rows per transaction of `delete_in_batches`, which are read.
READ_ROWS = 1000
#: Rows per statement of `delete_unread`. PostgreSQL takes about a second at most, with the checks.
_BATCH_ROWS = 20_000


def _delete(batch: models.QuerySet[Any]) -> int:
    return batch.delete()[0]


def delete_in_batches(rows: models.QuerySet[Any], delete: Callable[[Any], int] = _delete) -> int:
    """Delete `rows` in batches, so that no lock is held for long; return the count.

    `delete` deletes a batch, and returns how many rows it had.
    """
    deleted = 0
    while keys := list(rows.values_list("pk", flat=True)[:READ_ROWS]):
        # Filtered again: a row may have been renewed between the two statements.
        deleted += delete(rows.filter(pk__in=keys))
    return deleted


def delete_unread(rows: models.QuerySet[Any]) -> None:
    """Delete `rows` and, through `CASCADE`, all rows that reference them.

    Rows that reference them with `DO_NOTHING` stay. Raises `TypeError` for a reference with
    another `on_delete`, which would need to be read.
    """
    connection = connections[rows.db]
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("DISCARD PLANS; SET CONSTRAINTS ALL IMMEDIATE")
        _delete_from_the_leaves(rows)
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def delete_leaves(rows: models.QuerySet[Any]) -> None:
    """Delete `rows` that no others reference any more: at most those of an expense or a closing."""
    rows._raw_delete(rows.db)


def _delete_from_the_leaves(rows: Any) -> None:
    relations: Any = list(get_candidate_relations_to_delete(rows.model._meta))
    names_itself = any(relation.related_model is rows.model for relation in relations)
    for relation in relations:
        if relation.on_delete is models.DO_NOTHING:
            continue
        if relation.on_delete is not models.CASCADE:
            raise TypeError(f"{relation.related_model.__name__}.{relation.field.name}")
        owners = {f"{relation.field.name}__in": rows.values("pk")}
        _delete_from_the_leaves(relation.related_model._base_manager.filter(**owners))
    # What refers to a row of the same table is younger.
    ordered = rows.order_by("-pk") if names_itself else rows.order_by()
    batch = rows.model._base_manager.filter(pk__in=ordered.values("pk")[:_BATCH_ROWS])
    while batch._raw_delete(rows.db) == _BATCH_ROWS:
        pass
