"""What is compiled once for all threads: none sees, or disturbs, what another has begun."""

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar, overload

Compiled = TypeVar("Compiled")

#: One for all, for querysets share parts; compiling is rare, and may need another compilation.
_COMPILING = RLock()


class compiled_once(Generic[Compiled]):  # noqa: N801 -- named as `cached_property` is
    """A `cached_property` that only one thread computes.

    `functools.cached_property` takes no lock since Python 3.12. Two threads would compile one
    queryset at the same time, which changes it, and could keep a broken text.
    """

    def __init__(self, build: Callable[[Any], Compiled]) -> None:
        self._build, self._name = build, build.__name__
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> "compiled_once[Compiled]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> Compiled: ...

    def __get__(self, instance: object | None, owner: type) -> "compiled_once[Compiled] | Compiled":
        """Python asks this only as long as the instance has no value of that name."""
        if instance is None:
            return self
        with _COMPILING:
            kept = instance.__dict__
            if self._name not in kept:
                kept[self._name] = self._build(instance)
            return kept[self._name]
