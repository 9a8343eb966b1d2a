"""Compiles something once for all threads: only one thread computes, the others wait.

The setting `COMPILED_QUERIES` switches this off. Then the ORM and DRF do the work for every
request, with the same responses.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar, overload

from django.conf import settings

Compiled = TypeVar("Compiled")

#: One lock for all, because querysets share parts; reentrant, because compilations can nest.
_COMPILING = RLock()

#: Whether querysets and serializers are compiled; see the setting.
IS_COMPILING: bool = getattr(settings, "COMPILED_QUERIES", True)


class compiled_once(Generic[Compiled]):  # noqa: N801 -- named as `cached_property` is
    """A `cached_property` that only one thread computes.

    `functools.cached_property` has no lock since Python 3.12. Compiling changes the queryset, so
    two threads that compile it at the same time could store a broken statement.
    """

    def __init__(self, build: Callable[[Any], Compiled]) -> None:
        self._build, self._name = build, build.__name__
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> "compiled_once[Compiled]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> Compiled: ...

    def __get__(self, instance: object | None, owner: type) -> "compiled_once[Compiled] | Compiled":
        """Called only while the instance has no value of that name."""
        if instance is None:
            return self
        with _COMPILING:
            kept = instance.__dict__
            if self._name not in kept:
                kept[self._name] = self._build(instance)
            return kept[self._name]
