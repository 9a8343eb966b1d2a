"""Values that are kept for a while in the cache of the service."""

from collections.abc import Callable
from typing import Any

from django.core.cache import cache


def redis_error() -> type[Exception]:
    """Redis's base exception, imported only after an error to save memory in every process."""
    from redis.exceptions import RedisError  # noqa: PLC0415 -- see above

    return RedisError


def answers() -> bool:
    """Whether the cache can be reached."""
    try:
        cache.get("readiness")
    except redis_error():
        return False
    return True


def remember(key: str, seconds: int, compute: Callable[[], Any]) -> Any:
    """The value of `compute`, at most `seconds` old; computed every time without the cache."""
    try:
        return cache.get_or_set(key, compute, seconds)
    except redis_error():
        return compute()
