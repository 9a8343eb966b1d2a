"""The fuzz of files in short: `make fuzz-files` runs it for as long as one likes."""

import pytest

from plugins.attachments.tests.fuzz import fuzzing

pytestmark = [pytest.mark.once, pytest.mark.slow]


def test_mutated_files_are_accepted_or_refused():
    with fuzzing("28") as fuzz:
        fuzz.run(seconds=1)
    assert fuzz.seen["201"] > fuzz.seen["image/jpeg refused"] > 0
