"""Giving the database connection of a request back while it waits for something else."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from django.db import connection

#: Set by the server while it handles a request: returns the connection during the block.
returning: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar(
    "returning", default=None
)


@contextmanager
def without_connection() -> Iterator[None]:
    """Run the block without a connection that others could use, unless in a transaction."""
    give_back = returning.get()
    if give_back is None or connection.in_atomic_block:
        yield
        return
    with give_back():
        yield
