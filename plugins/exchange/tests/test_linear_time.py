"""Expressions over files take time in proportion to their length."""

import pytest

from plugins.exchange.source import LONG_NUMBER
from plugins.exchange.tests.reading import read
from plugins.exchange.tests.samples import SPLITPRO_CSV
from tests.test_linear_time import least_seconds

pytestmark = pytest.mark.once


def test_a_name_of_splitpro_with_many_lines_is_read_once():
    header = SPLITPRO_CSV.splitlines()[0]

    def act(lines):
        list(read(f"{header}\n{lines}", currency="EUR").entries)

    assert least_seconds(act, "a\n" * 60_000) < 30 * least_seconds(act, "a\n" * 7_500)


def test_long_numbers_are_looked_for_once():
    """As long as nearly each could be."""
    number = "9" * 999 + "\n"
    assert least_seconds(LONG_NUMBER.search, number * 64) < (
        20 * least_seconds(LONG_NUMBER.search, "x" * 64_000)
    )
