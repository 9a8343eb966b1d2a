"""The clock of codes."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that stands still; `clock.shift(30)` moves it on."""
    with time_machine.travel(datetime(2026, 5, 14, 12, tzinfo=UTC), tick=False) as traveller:
        yield traveller
