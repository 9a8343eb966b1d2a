"""What the service writes into its log in production."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO

from tripcompanion.kit.logs import WithRequestId, logging_settings


@contextmanager
def production_log() -> Iterator[Callable[[], list[str]]]:
    """A function that gives the lines so far, in the form and on the level of production."""
    stream = StringIO()
    settings = logging_settings("INFO", "json")
    handler = logging.StreamHandler(stream)
    form = dict(settings["formatters"]["json"])
    kind, names = form.pop("()"), form.pop("format")
    handler.setFormatter(kind(names, **form))
    handler.addFilter(WithRequestId())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel("INFO")
    try:
        yield lambda: stream.getvalue().splitlines()
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
