"""Compiles something once for all threads: only one thread computes, the others wait.

The setting `COMPILED_QUERIES` switches this off. Then the ORM and DRF do the work for every
request, with the same responses.
"""

from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

from django.conf import settings

Compiled = TypeVar("Compiled")

#: One lock for all, because querysets share parts; reentrant, because compilations can nest.
_COMPILING = RLock()

#: Whether querysets and serializers are compiled; see the setting.
IS_COMPILING: bool = getattr(settings, "COMPILED_QUERIES", True)


class compiled_once(cached_property[Compiled]):  # noqa: N801 -- named as `cached_property` is
    """A `cached_property` that only one thread computes.

    `functools.cached_property` has no lock since Python 3.12. Compiling changes the queryset, so
    two threads that compile it at the same time could store a broken statement.
    """

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Called only while the instance has no value of that name."""
        with _COMPILING:
            return super().__get__(instance, owner)
