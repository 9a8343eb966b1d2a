"""A plan of the cast's trip."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.splits.ledger import Json, Ledger
from users.models import User

Plan = Callable[..., Json]


@pytest.fixture
def plan(ledger: Ledger, olga: User) -> Plan:
    """`plan("Castle", date="2026-05-14")` adds an activity, by Olga unless `by` says otherwise."""

    def add(title: str, by: User = olga, **fields: Any) -> Json:
        answer = ledger.answer(by, "post", "activities", {"title": title, **fields})
        assert answer.status_code == 201, answer.content
        assert answer.content == ledger.answer(olga, "get", answer["Location"]).content
        return answer.json()

    return add
