"""The cache of the service, and whether it can be reached."""

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
