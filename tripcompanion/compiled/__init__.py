"""Querysets and serializers that are compiled once; see README.md.

Other packages import the names in `__all__` and nothing else.
"""

from tripcompanion.compiled.inserts import insert
from tripcompanion.compiled.queries import ArrayParam, CompiledQuery, CompiledUpdate, Param
from tripcompanion.compiled.serializers import serialize

__all__ = ["ArrayParam", "CompiledQuery", "CompiledUpdate", "Param", "insert", "serialize"]
