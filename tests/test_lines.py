"""The core stays small."""

import pytest

from tests.document import usual_plugins
from tests.lines import lines

pytestmark = pytest.mark.once

#: The lines of the core at most. The number may only fall.
MOST_OF_THE_CORE = 24_746


@usual_plugins
def test_the_core_does_not_grow():
    assert lines()["core"] <= MOST_OF_THE_CORE
