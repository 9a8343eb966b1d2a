"""The file of a trip has the budgets of categories."""

import json
from decimal import Decimal

import pytest

from plugins.exchange.description import UnreadableFile
from plugins.exchange.tests.copies import copied, file_of
from tests.cast import Api
from tests.trips.budgets import with_budgets
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.either


@pytest.fixture
def planned(api: Api, trip: Trip, olga: User) -> Trip:
    return with_budgets(trip, api(olga))


def test_a_copy_has_them(api: Api, planned: Trip, olga: User, sam: User) -> None:
    content = file_of(api, planned, olga)
    copy = copied(content, sam)
    assert copy.category_budgets == {"FOOD": Decimal("200.5"), "TRANSPORT": Decimal("33.34")}
    held = json.loads(content)
    for wrong in ({"WINE": 1}, {"FOOD": 0.001}, [], 7):
        held["trip"]["categoryBudgets"] = wrong
        with pytest.raises(UnreadableFile):
            copied(json.dumps(held).encode(), sam)
    del held["trip"]["categoryBudgets"]
    assert copied(json.dumps(held).encode(), sam).category_budgets is None
