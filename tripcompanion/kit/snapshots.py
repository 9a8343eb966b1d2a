"""Answers of one moment: all reads of an answer see the same state of the database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections

Answer = TypeVar("Answer")


class StatementChanged(OperationalError):
    """The database no longer has a kept statement, or its table changed; it works when repeated."""


@contextmanager
def snapshot() -> Iterator[None]:
    """What is read inside is of one moment, whatever others write meanwhile. Write nothing inside.

    Nobody waits: neither the reader for writers, nor they for the reader. Inside a transaction
    this does nothing, as for a request with an `Idempotency-Key`.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]
    if database.in_atomic_block:
        yield
    else:
        with database.snapshot():
            yield


def in_snapshot(read: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
    """What `read` answers, inside a snapshot; `read` runs again if a statement had changed."""
    is_outermost = not connections[DEFAULT_DB_ALIAS].in_atomic_block
    try:
        with snapshot():
            return read(*args, **kwargs)
    except StatementChanged:
        if not is_outermost:
            raise
    with snapshot():
        return read(*args, **kwargs)
