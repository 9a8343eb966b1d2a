"""Shapes of splits and of what is owed in all."""

from decimal import Decimal
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from splits.models.division import SCALE
from tripcompanion.kit.currencies import Amount
from tripcompanion.kit.serializers import (
    AmountField,
    CurrencyField,
    ExactNumber,
    IdField,
    MoneyField,
    Shape,
    example,
)
from users.serializers import UserSummary

MAX_DECIMALS = 4
ED_EXAMPLE = {"id": 2, "name": "Ed Editor", "email": "ed@example.com", "profilePicture": None}
SPLIT_EXAMPLE = {
    "id": 31,
    "expenseId": 12,
    "participant": ED_EXAMPLE,
    "amount": 31.25,
    "percentage": None,
    "paid": False,
    "paidAmount": 0,
    "paidAt": None,
}


@extend_schema_field({"type": "number"})
class ScaledField(serializers.Field):
    """Whole ten-thousandths of the row as an exact JSON number; read-only."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(read_only=True, **kwargs)

    def to_representation(self, value: int) -> Decimal:
        return (Decimal(value) / SCALE).normalize()


@example({"participantUserId": 2, "amount": 31.25})
class CreateSplitRequest(Shape):
    """CreateSplitRequestDTO: an amount or a percentage of the expense."""

    participant_user_id = IdField()
    amount = AmountField(required=False)
    percentage = ExactNumber(required=False, maximum=Decimal(100), max_decimals=MAX_DECIMALS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("amount" in attrs) == ("percentage" in attrs):
            text = _("Give either amount or percentage.")
            raise serializers.ValidationError({"amount": [text]})
        part = {"participant_id": attrs["participant_user_id"]}
        if "percentage" in attrs:
            return {**part, "percentage_e4": int(attrs["percentage"] * SCALE)}
        return {**part, "amount": Amount(attrs["amount"], self.context["currency"])}


@example(SPLIT_EXAMPLE)
class ExpenseSplitSerializer(Shape):
    """ExpenseSplitDTO."""

    id = serializers.IntegerField()
    expense_id = serializers.IntegerField()
    participant = UserSummary()
    amount = MoneyField(currency="trip_currency")
    percentage = ScaledField(source="percentage_e4", allow_null=True)
    paid = serializers.BooleanField()
    paid_amount = MoneyField(source="paid", currency="trip_currency")
    paid_at = serializers.DateTimeField(allow_null=True)


class DebtQuery(Shape):
    """Query of the total debt."""

    currency = CurrencyField(required=False)


class TotalDebtSerializer(serializers.BaseSerializer):
    """One bare JSON number: what a user still owes, in the asked-for currency."""

    json_schema: ClassVar = {"type": "number", "minimum": 0, "examples": [31.25]}

    def to_representation(self, instance: Decimal) -> Decimal:
        return instance
