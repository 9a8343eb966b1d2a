"""Files that are written for an answer."""

from collections.abc import Callable
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO


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
