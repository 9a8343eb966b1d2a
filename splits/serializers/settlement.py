"""Shapes of settlements, balances and plans."""

from datetime import timedelta
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from splits.models.settlement import today
from splits.serializers.split import ED_EXAMPLE
from tripcompanion.kit.currencies import Amount
from tripcompanion.kit.serializers import (
    AmountField,
    IdField,
    MoneyField,
    Shape,
    StrictDate,
    StrictText,
    example,
)
from users.serializers import SUMMARY_EXAMPLE, UserSummary


@example({"fromUserId": 2, "toUserId": 1, "amount": 31.25, "settledOn": "2026-05-20", "note": ""})
class SettlementRequest(Shape):
    """Money that one member handed to another; the context carries the trip's `currency`."""

    from_user_id = IdField()
    to_user_id = IdField()
    amount = AmountField()
    settled_on = StrictDate(required=False)
    note = StrictText(required=False, max_length=2000, allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["from_user_id"] == attrs["to_user_id"]:
            text = _("Nobody can settle with themselves.")
            raise serializers.ValidationError({"toUserId": [text]})
        # One day of grace: somewhere it is tomorrow already.
        latest = today() + timedelta(days=1)
        if attrs.get("settled_on", latest) > latest:
            raise serializers.ValidationError({"settledOn": [_("Must not be in the future.")]})
        attrs["amount"] = Amount(attrs["amount"], self.context["currency"])
        attrs["sender_id"] = attrs.pop("from_user_id")
        attrs["receiver_id"] = attrs.pop("to_user_id")
        return attrs


@example(
    {
        "id": 5,
        "tripId": 7,
        "from": ED_EXAMPLE,
        "to": SUMMARY_EXAMPLE,
        "amount": 31.25,
        "settledOn": "2026-05-20",
        "note": "",
        "createdAt": "2026-05-20T08:00:00Z",
    }
)
class SettlementSerializer(Shape):
    """Money that was handed over."""

    id = serializers.IntegerField()
    trip_id = serializers.IntegerField()
    from_ = UserSummary(source="sender")
    to = UserSummary(source="receiver")
    amount = MoneyField(currency="trip.currency")
    settled_on = serializers.DateField()
    note = serializers.CharField()
    created_at = serializers.DateTimeField()


@example(
    {
        "user": SUMMARY_EXAMPLE,
        "paid": 62.5,
        "share": 31.25,
        "sent": 0,
        "received": 31.25,
        "balance": 0,
    }
)
class BalanceSerializer(Shape):
    """Where a member stands: `balance` = `paid` - `share` + `sent` - `received`."""

    user = UserSummary()
    paid = MoneyField(currency="trip.currency")
    share = MoneyField(currency="trip.currency")
    sent = MoneyField(currency="trip.currency")
    received = MoneyField(currency="trip.currency")
    balance = MoneyField(currency="trip.currency")


@example({"from": ED_EXAMPLE, "to": SUMMARY_EXAMPLE, "amount": 31.25})
class TransferSerializer(Shape):
    """One payment of a settle-up plan."""

    from_ = UserSummary(source="sender")
    to = UserSummary(source="receiver")
    amount = MoneyField(currency="trip.currency")


@example({"tag": "9f2b7c01d4e8a36f"})
class SettleUpRequest(Shape):
    """The plan that is to be recorded, named by its tag: the `ETag` of the plan, unquoted."""

    tag = StrictText(max_length=64)


@example(
    {
        "kind": "EXPENSE",
        "id": 12,
        "date": "2026-05-14",
        "description": "Dinner in Alfama",
        "recordedAt": "2026-05-14T21:40:00Z",
        "paid": 62.5,
        "share": 31.25,
        "sent": 0,
        "received": 0,
        "change": 31.25,
        "balance": 31.25,
    }
)
class BalanceLineSerializer(Shape):
    """One entry behind a balance; `balance` is the running sum of the changes."""

    kind = serializers.ChoiceField(choices=["EXPENSE", "SETTLEMENT"])
    id = serializers.IntegerField()
    date = serializers.DateField(source="day")
    description = serializers.CharField()
    recorded_at = serializers.DateTimeField()
    paid = MoneyField()
    share = MoneyField()
    sent = MoneyField()
    received = MoneyField()
    change = MoneyField()
    balance = MoneyField()
