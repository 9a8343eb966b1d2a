"""Querysets and serializers that are compiled once; see README.md.

Other packages import the names in `__all__` and nothing else.
"""

from tripcompanion.compiled.serializers import serialize
from tripcompanion.compiled.statements import (
    ArrayParam,
    CompiledQuery,
    CompiledUpdate,
    OneOf,
    Param,
    fetch_all,
    insert,
    new_rows,
)

__all__ = [
    "ArrayParam",
    "CompiledQuery",
    "CompiledUpdate",
    "OneOf",
    "Param",
    "fetch_all",
    "insert",
    "new_rows",
    "serialize",
]
