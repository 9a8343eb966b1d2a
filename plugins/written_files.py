"""Files that are written for an answer."""

from collections.abc import Callable
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO

from django.db.models import Model, TextField

#: How many rows with long texts are held at a time: the items of an expense may have 200 kB.
LONG_ROWS = 100


def written_file(write: Callable[[IO[bytes]], object]) -> IO[bytes]:
    """A temporary file with what `write` writes into it, ready to be read; a response closes it.

    It is complete before it is sent, so an error cannot truncate it, and a slow client does not
    keep a database connection.
    """
    with ExitStack() as stack:
        file = stack.enter_context(TemporaryFile())
        write(file)
        file.seek(0)
        stack.pop_all()
        return file


def rows_at_once(model: type[Model], most: int) -> int:
    """How many rows are held at a time: `most`, or `LONG_ROWS` if they may have long texts."""
    is_long = any(isinstance(field, TextField) for field in model._meta.concrete_fields)
    return LONG_ROWS if is_long else most
