"""Whose addresses the reader of a response may see.

If somebody added an account to a trip in which it has not answered, only people who knew its
address before see it. Higher layers know who these are; they tell for whom a response is made.
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import cache

_sees: ContextVar[Callable[[int], bool] | None] = ContextVar("sees", default=None)


def show_to(sees: Callable[[int], bool] | None) -> None:
    """Make the next responses of this thread for a reader who sees the addresses of these ids."""
    _sees.set(cache(sees) if sees else None)


def sees_address_of(user_id: int) -> bool:
    """Whether the reader sees the address of an account that has not answered."""
    sees = _sees.get()
    return sees is not None and sees(user_id)
