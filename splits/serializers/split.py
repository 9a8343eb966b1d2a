"""Serializers of splits and of the total debt."""

from decimal import Decimal
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from splits.models.division import SCALE
from tripcompanion.api.serializers import CamelCaseSerializer, ExactNumber, IdField, QueryBoolean
from tripcompanion.currency.amounts import Amount
from tripcompanion.currency.fields import AmountField, CurrencyField, MoneyField
from trips.models.default_division import MAX_DECIMALS
from users.serializers.account import UserSummary


@extend_schema_field({"type": "number"})
class PlainDecimal(serializers.ReadOnlyField):
    """A decimal as an exact JSON number without trailing zeros; read-only."""

    def to_representation(self, value: Decimal) -> Decimal:
        return value.normalize()


class PercentageField(PlainDecimal):
    """A percentage that is stored as a whole number of ten-thousandths, `percentage_e4`."""

    def __init__(self) -> None:
        text = "The percentage that was entered; null for other split types."
        super().__init__(source="percentage_e4", allow_null=True, help_text=text)

    def to_representation(self, value: int | Decimal) -> Decimal:
        return super().to_representation(Decimal(value) / SCALE)


class CreateSplitRequest(CamelCaseSerializer):
    """One more part of an expense, as an amount or as a percentage.

    CreateSplitRequestDTO.
    """

    participant_user_id = IdField(help_text="A member without a split in this expense.")
    amount = AmountField(
        signed=True,
        may_be_zero=False,
        required=False,
        help_text=(
            "What they owe, in the trip's currency, with the sign of the expense. Send either this "
            "or `percentage`."
        ),
    )
    percentage = ExactNumber(
        required=False,
        maximum=Decimal(100),
        max_decimals=MAX_DECIMALS,
        help_text="Their part of the expense in percent, at most 4 decimals.",
    )

    exactly_one = ("amount", "percentage")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        self.require_one(attrs)
        part = {"participant_id": attrs["participant_user_id"]}
        if "percentage" in attrs:
            return {**part, "percentage_e4": int(attrs["percentage"] * SCALE)}
        return {**part, "amount": Amount(attrs["amount"], self.context["currency"])}


class ExpenseSplitSerializer(CamelCaseSerializer):
    """One person's part of an expense, and how much of it is paid.

    ExpenseSplitDTO.
    """

    id = serializers.IntegerField(help_text="The split's id.")
    expense_id = serializers.IntegerField(help_text="The expense that is divided.")
    participant = UserSummary(help_text="Whose part it is.")
    amount = MoneyField(currency="trip_currency", help_text="Their part, in the trip's currency.")
    percentage = PercentageField()
    paid = serializers.BooleanField(
        source="state.paid",
        help_text=(
            "Whether nothing of it is owed any more. The part of a payer is paid from the start."
        ),
    )
    paid_amount = MoneyField(
        source="state.paid",
        currency="trip_currency",
        help_text="How much of `amount` is covered, in the trip's currency.",
    )
    paid_at = serializers.DateTimeField(
        source="state.paid_at",
        allow_null=True,
        help_text="When it was paid in full, or made if nothing was ever owed; null if it is not.",
    )


class PendingQuery(CamelCaseSerializer):
    """The query parameters of the pending debts."""

    answered = QueryBoolean(
        required=False,
        help_text=(
            "Only in trips in which the user has answered or, with `false`, in those to which they "
            "were added and have neither read nor written. Default: all trips."
        ),
    )


class DebtQuery(PendingQuery):
    """The query parameters of the total debt."""

    currency = CurrencyField(
        required=False, help_text="The currency of the total. Default: the user's own."
    )


class TotalDebtSerializer(serializers.BaseSerializer):
    """What the user still owes, as a plain JSON number."""

    json_schema: ClassVar = {"type": "number", "minimum": 0, "examples": [31.25]}

    def to_representation(self, instance: Decimal) -> Decimal:
        return instance
