"""Python functions that are written by this package.

`dataclasses` and `namedtuple` do the same for their `__init__` and `__new__`: a function that names
each attribute takes less time than one that walks a list of names.
"""

from collections.abc import Mapping
from typing import Any


def function_of(source: str, names: Mapping[str, Any]) -> Any:
    """The function that `source`, the text of a lambda, stands for; it may use these names."""
    # The text has the names of declared fields and columns, and nothing that a user entered.
    return eval(source, dict(names))  # noqa: S307 -- text of the code itself
