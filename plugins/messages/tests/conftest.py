"""What the members of the cast's trip write."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cast import Api
from trips.models import Trip
from users.models import User

Say = Callable[..., Any]


@pytest.fixture
def messages(trip: Trip) -> str:
    return f"/api/trips/{trip.pk}/messages"


@pytest.fixture
def say(api: Api, messages: str) -> Say:
    """`say(ed, "Hello")` writes a message; its JSON."""

    def sent(by: User, text: str, **fields: Any) -> Any:
        answer = api(by).post(messages, {"text": text, **fields})
        assert answer.status_code == 201, answer.json()
        assert answer["Location"] == f"{messages}/{answer.json()['id']}"
        return answer.json()

    return sent
