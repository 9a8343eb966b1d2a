"""Several reads of the same moment, for answers whose figures must fit together."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """What is read inside is of one moment, whatever others write meanwhile. Write nothing here."""
    outermost = not connection.in_atomic_block
    with transaction.atomic(savepoint=False):
        # SQLite lets nobody write meanwhile; PostgreSQL keeps a picture for this transaction.
        if outermost and connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
