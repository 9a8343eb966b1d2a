"""What the soak has of merges is as the API has it."""

import pytest

from plugins.merging.views import MergeViewSet
from tests.soak.journal import Act


@pytest.mark.once
def test_the_judge_asks_for_the_capability_that_the_api_asks_for() -> None:
    assert Act.MERGE_GUEST.can == MergeViewSet.needs["merge"]
