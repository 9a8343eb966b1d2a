"""What is shown the fast way is what the shape declares, field by field."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from splits.models import Settlement, SplitType
from tests.conftest import Api
from tests.factories import spend
from tripcompanion.kit import showing, viewsets
from tripcompanion.kit.rendering import ExactJSONRenderer
from tripcompanion.kit.showing import show
from trips.models import Trip
from users.models import User


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the shapes that were shown; each row is shown both ways, and compared."""
    names: list[str] = []

    def show_twice(shape: Any, row: Any, context: Mapping[str, Any]) -> Any:
        fast, declared = show(shape, row, context), shape(row, context=dict(context)).data
        assert as_text(fast) == as_text(declared)
        names.append(shape.__name__)
        return fast

    monkeypatch.setattr(viewsets, "show", show_twice)
    monkeypatch.setattr(showing, "show", show_twice)
    return names


def as_text(data: Any) -> str:
    """The JSON, with its members in order and its numbers as digits."""
    return json.dumps(json.loads(ExactJSONRenderer().render(data), parse_float=str))


def test_every_answer_is_what_its_shape_declares(
    compared: list[str], api: Api, trip: Trip, olga: User, ed: User, vera: User
) -> None:
    people = {olga.pk: 600_000, ed.pk: 333_333, vera.pk: 66_667}
    put_in = {olga.pk: 6_000, ed.pk: 4_001}
    expense = spend(
        trip,
        10_001,
        paid_by=olga,
        among=[olga, ed, vera],
        put_in=put_in,
        entered=people,
        split_type=SplitType.PERCENTAGE,
    )
    Settlement(
        trip=trip, sender=vera, receiver=olga, amount_minor=101, created_by=vera, note="Coffee"
    ).record()
    client, url = api(olga), f"/api/trips/{trip.pk}"
    client.patch(url, {"budget": 1200.5, "imageUrl": "/images/lisbon.webp"})
    script = {"name": "Import", "scopes": ["trips:read"], "tripId": trip.pk}
    assert client.post("/api/users/me/tokens", script).status_code == 201
    for path in (
        url,
        "/api/trips",
        f"/api/trips/code/{trip.code}",
        f"{url}/members",
        f"{url}/members/{ed.pk}",
        f"{url}/expenses",
        f"{url}/expenses/{expense.pk}",
        f"{url}/settlements",
        f"{url}/balances",
        f"{url}/balances/{olga.pk}",
        f"{url}/settle-up",
        f"/api/expenses/{expense.pk}/splits",
        f"/api/users/{vera.pk}",
        "/api/users/me",
        "/api/users/me/sessions",
        "/api/users/me/tokens",
        f"/api/users/{olga.pk}/total-debt",
        f"/api/users/{olga.pk}/pending-debts",
    ):
        assert client.get(path).status_code == 200, path
    body = {
        "description": "Sushi",
        "amount": 1000,
        "currency": "JPY",
        "exchangeRate": 0.0061,
        "expenseDate": "2026-05-15",
        "splitType": "EQUAL",
        "participantUserIds": [olga.pk, ed.pk],
    }
    assert client.post(f"{url}/expenses/preview", body).status_code == 200
    assert client.post(f"{url}/expenses", body).status_code == 201
    login = {"email": olga.email, "password": "four-green-suitcases"}
    assert client.post("/api/users/login", login).status_code == 200
    assert set(compared) == {
        "BalanceLineSerializer",
        "BalanceSerializer",
        "ExpensePreviewSerializer",
        "ExpenseSerializer",
        "ExpenseSplitSerializer",
        "LoginResponse",
        "NewScopedTokenSerializer",
        "ScopedTokenSerializer",
        "SessionSerializer",
        "SettlementSerializer",
        "TotalDebtSerializer",
        "TransferSerializer",
        "TripDetailSerializer",
        "TripMemberSerializer",
        "TripPreview",
        "TripSerializer",
        "UserSerializer",
    }
