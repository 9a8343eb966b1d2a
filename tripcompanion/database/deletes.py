"""Deletes rows and all rows that reference them, reading only their keys.

Django reads the rows that it deletes to find what references them. Here each table's rows are
deleted by their keys, those without references to them first. No signals are sent. A subquery for
them would be a join, which compares all rows of a trip that PostgreSQL does not know.

Every statement of `delete_unread` deletes at most one batch of rows, and checks their foreign keys
immediately, also on PostgreSQL, where a COMMIT would take as long as all checks.
"""

from collections.abc import Callable
from typing import Any

from django.db import connections, models, transaction
from django.db.models.deletion import get_candidate_relations_to_delete

from tripcompanion.compiled import ArrayParam

#: Rows per transaction of `delete_in_batches`, which are read.
READ_ROWS = 1000
#: Rows per statement of `delete_unread`. PostgreSQL takes about a second at most, with the checks.
_BATCH_ROWS = 20_000


def delete_in_batches(
    rows: models.QuerySet[Any], delete: Callable[[Any], int] = lambda batch: batch.delete()[0]
) -> int:
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
    # What refers to a row of the same table is younger.
    names_itself = any(relation.related_model is rows.model for relation in relations)
    ordered = rows.order_by("-pk") if names_itself else rows.order_by()
    while keys := list(ordered.values_list("pk", flat=True)[:_BATCH_ROWS]):
        for relation in relations:
            if relation.on_delete is models.DO_NOTHING:
                continue
            if relation.on_delete is not models.CASCADE:
                raise TypeError(f"{relation.related_model.__name__}.{relation.field.name}")
            named = ArrayParam.among(keys, relation.field.name)
            _delete_from_the_leaves(relation.related_model._base_manager.filter(named))
        rows.model._base_manager.filter(ArrayParam.among(keys, "pk"))._raw_delete(rows.db)
