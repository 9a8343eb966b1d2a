"""What is shown the fast way is what the shape declares, field by field."""

import json

import pytest

from splits.models import Settlement, SplitType
from splits.serializers.settlement import SettlementSerializer
from tests.factories import settle, spend
from tests.trips.bodies import dinner
from tripcompanion.api import rendering, viewsets
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.compiled import serialize
from trips.models import Trip
from users.models import User


@pytest.fixture
def compared(monkeypatch):
    """The names of the shapes that were shown; each row is shown both ways, and compared."""
    names: list[str] = []

    def show_twice(shape, instance, context, *, many=False):
        rows = list(instance) if many else [instance]
        fast = serialize(shape, rows if many else instance, context, many=many)
        slow = [shape(row, context=dict(context)).data for row in rows]
        assert as_text(fast) == as_text(slow if many else slow[0])
        names.extend([shape.__name__] * len(rows))
        return fast

    for module in (rendering, viewsets):
        monkeypatch.setattr(module, "serialize", show_twice)
    return names


def as_text(data):
    """The JSON, with its members in order and its numbers as digits."""
    return json.dumps(json.loads(ExactJSONRenderer().render(data), parse_float=str))


def test_every_answer_is_what_its_shape_declares(compared, api, trip, olga, ed, vera):
    people = {olga.pk: 600_000, ed.pk: 333_333, vera.pk: 66_667}
    paid_by_user = {olga.pk: 6_000, ed.pk: 4_001}
    expense = spend(
        trip,
        10_001,
        paid_by=olga,
        among=[olga, ed, vera],
        paid_by_user=paid_by_user,
        entered=people,
        split_type=SplitType.PERCENTAGE,
    )
    settle(trip, vera, olga, 101, note="Coffee")
    client, url = api(olga), f"/api/trips/{trip.pk}"
    client.patch(url, {"budget": 1200.5, "imageUrl": "/images/lisbon.webp"})
    script = {"name": "Import", "scopes": ["trips:read"], "tripId": trip.pk}
    assert client.post("/api/users/me/tokens", script).status_code == 201
    for path in (
        url,
        "/api/trips",
        f"{url}/members",
        f"{url}/members/{ed.pk}",
        f"{url}/expenses",
        f"{url}/expenses/{expense.pk}",
        f"{url}/settlements",
        f"{url}/balances",
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
    body = dinner(olga, ed, amount=1000, currency="JPY", exchangeRate=0.0061)
    assert client.post(f"{url}/expenses/preview", body).status_code == 200
    assert client.post(f"{url}/expenses", body).status_code == 201
    login = {"email": olga.email, "password": "four-green-suitcases"}
    assert client.post("/api/users/login", login).status_code == 200
    assert set(compared) == {
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
        "TripSerializer",
        "UserSerializer",
    }


def test_people_are_not_taken_for_each_other_when_rows_come_and_go():
    """Of rows that are read one by one, the next may lie where the last one was."""
    trip = Trip(id=1, currency="EUR")

    def rows():
        for number in range(1, 300):
            two = [User(id=number, name=f"User {number}"), User(id=1000, name="Olga")]
            yield Settlement(trip=trip, sender=two[0], receiver=two[1], amount_minor=1)

    shown = serialize(SettlementSerializer, rows(), {}, many=True)
    assert [row["from"]["id"] for row in shown] == list(range(1, 300))
    assert {row["to"]["name"] for row in shown} == {"Olga"}


def test_where_drf_serializes_many_rows_take_one_serializer():
    class Counting(SettlementSerializer):
        made = 0

        def __init__(self, *args, **kwargs):
            Counting.made += 1
            super().__init__(*args, **kwargs)

        def to_representation(self, instance):
            return super().to_representation(instance)

    trip, two = Trip(id=1, currency="EUR"), [User(id=1, name="Olga"), User(id=2, name="Ed")]
    row = Settlement(trip=trip, sender=two[0], receiver=two[1], amount_minor=1)
    assert len(serialize(Counting, [row] * 20, {}, many=True)) == 20
    # DRF makes one, and one more to look at its class.
    assert Counting.made <= 2
