"""What the soak has of copies and moves is as the API has it."""

import pytest

from plugins.copying.views import OtherTripViewSet
from tests.soak.journal import Act


@pytest.mark.once
def test_the_judge_asks_for_the_capability_that_the_api_asks_for() -> None:
    asked = {"copy": Act.COPY_EXPENSE.can, "move": Act.MOVE_EXPENSE.can}
    assert asked == OtherTripViewSet.needs
