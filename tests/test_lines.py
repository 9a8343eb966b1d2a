"""The core stays small."""

import pytest

from tests.lines import lines

pytestmark = pytest.mark.once

#: The lines of the core at most. The number may only fall; it is to reach 25,000.
MOST_OF_THE_CORE = 25_030


def test_the_core_does_not_grow() -> None:
    assert lines()["core"] <= MOST_OF_THE_CORE
