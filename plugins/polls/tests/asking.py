"""Polls in the trip of the cast, and what answers show of them."""

from typing import Any

import pytest

from tests.cast import Api
from trips.models import Trip
from users.models import User

QUESTION = {"question": "Where to?", "options": [{"text": "Sea"}, {"text": "Hills"}]}


@pytest.fixture
def polls(trip: Trip) -> str:
    return f"/api/trips/{trip.pk}/polls"


@pytest.fixture
def ask(api: Api, polls: str, ed: User) -> Any:
    """Makes a poll of Ed's; returns its path."""

    def asked(**fields: Any) -> str:
        made = api(ed).post(polls, {**QUESTION, **fields})
        assert made.status_code == 201, made.json()
        return made["Location"]

    return asked


def vote(client: Any, path: str, *option_ids: Any) -> Any:
    return client.put(f"{path}/vote", {"optionIds": list(option_ids)})


def counts(poll: Any) -> list[Any]:
    return [option["votes"] for option in poll["options"]]


def voters(poll: Any) -> list[Any]:
    return [
        option["voters"] and [voter["name"] for voter in option["voters"]]
        for option in poll["options"]
    ]
