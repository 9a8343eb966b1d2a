"""What the service writes into its log in production."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO

from tripcompanion.observability.logs import logging_settings


@contextmanager
def production_log(form: str = "json") -> Iterator[Callable[[], list[str]]]:
    """A function that gives the lines so far, in a form (`json` is production's) and on INFO."""
    stream = StringIO()
    settings = logging_settings("INFO", form)
    handler = logging.StreamHandler(stream)
    options = dict(settings["formatters"][form])
    kind, names = options.pop("()"), options.pop("format")
    handler.setFormatter(kind(names, **options))
    for name in settings["handlers"]["console"]["filters"]:
        handler.addFilter(settings["filters"][name]["()"]())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel("INFO")
    try:
        yield lambda: stream.getvalue().splitlines()
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
