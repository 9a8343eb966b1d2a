"""What differs when the tests run with `COMPILED_QUERIES=false`: the few places, by name.

Everything else is the same with and without, so that each way of reading tests the other one.
"""

import pytest
from django.conf import settings

#: For tests of how statements are compiled, and of how few there are.
compiled_only = pytest.mark.skipif(
    not settings.COMPILED_QUERIES, reason="is about what is compiled once"
)


def queries_of_parts(number: int) -> int:
    """The queries for so many `Prefetch`es, which a compiled statement reads with their owner."""
    return 0 if settings.COMPILED_QUERIES else number
