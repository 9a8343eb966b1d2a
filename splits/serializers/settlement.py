"""Serializers of settlements, balances and plans."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from splits.serializers.split import PlainDecimal
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    IdField,
    NewClientId,
    ShownClientId,
    StrictDate,
    StrictText,
)
from tripcompanion.currency.amounts import Amount
from tripcompanion.currency.fields import AmountField, CurrencyField, MoneyField, RateField
from users.serializers.account import UserSummary


def require_other_currency(attrs: Mapping[str, Any], currency: str, trip_currency: str) -> None:
    """Raise `ValidationError` if a rate was sent for an amount in the trip's currency."""
    if attrs.get("exchange_rate") is not None and currency == trip_currency:
        text = _("The amount is in the trip's currency already.")
        raise serializers.ValidationError({"exchangeRate": [text]})


class RateSerializer(CamelCaseSerializer):
    """The rate with which an amount was converted. It is fixed once the amount is recorded."""

    value = PlainDecimal(
        source="rate", help_text="What one unit of `currency` is worth in `tripCurrency`."
    )
    date = serializers.DateField(
        source="day",
        help_text="The day on which it was published; of one that was sent, when that was.",
    )
    source = serializers.CharField(  # type: ignore[assignment]  # a field's own `source`
        source="origin", help_text="`ecb`, the European Central Bank, or `given` in the request."
    )


class EnteredAmount(CamelCaseSerializer):
    """An amount as entered and in the trip's currency; a base of serializers."""

    amount = MoneyField(
        source="entered", currency="currency", help_text="The amount as entered, in `currency`."
    )
    currency = CurrencyField(help_text="The currency in which it was entered.")
    trip_amount = MoneyField(
        source="amount", help_text="`amount` in `tripCurrency`, in which all sums are."
    )
    trip_currency = CurrencyField(source="trip.currency", help_text="The trip's currency.")
    exchange_rate = PlainDecimal(
        allow_null=True,
        help_text=(
            "What one unit of `currency` is worth in `tripCurrency`; null if they are the same."
        ),
    )
    exchange_rate_source = serializers.CharField(
        source="rate_source", help_text="Where the rate is from; empty if none was needed."
    )
    exchange_rate_date = serializers.DateField(
        source="rate_day",
        allow_null=True,
        help_text="The day of the rate; null if none was needed.",
    )
    rate = RateSerializer(allow_null=True, help_text="The same in one; null if none was needed.")


class SettlementRequest(CamelCaseSerializer):
    """A payment from one member to another.

    The context carries the trip's `currency`.
    """

    from_user_id = IdField(source="sender_id", help_text="Who handed over the money; a member.")
    to_user_id = IdField(source="receiver_id", help_text="Who received it; another member.")
    amount = AmountField(
        help_text="The amount, in `currency`; further decimals are rounded half up."
    )
    currency = CurrencyField(
        required=False, help_text="The currency of `amount`. Default: the trip's."
    )
    exchange_rate = RateField(
        required=False,
        allow_null=True,
        help_text=(
            "What one unit of `currency` is worth in the trip's currency, at most 15 "
            "digits; only if they differ. Default: null, the rate that the European Central "
            "Bank published last, on `settledOn` or before."
        ),
    )
    settled_on = StrictDate(required=False, help_text="The day. Default: today.")
    note = StrictText(
        required=False,
        max_length=2000,
        allow_blank=True,
        help_text="At most 2,000 characters. Default: empty.",
    )
    client_id = NewClientId()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["sender_id"] == attrs["receiver_id"]:
            text = _("Sender and receiver must differ.")
            raise serializers.ValidationError({"toUserId": [text]})
        currency = attrs.pop("currency", self.context["currency"])
        require_other_currency(attrs, currency, self.context["currency"])
        attrs["amount"] = Amount(attrs["amount"], currency)
        return attrs


class _SettlementPeople(CamelCaseSerializer):
    """The fields of a settlement before its amounts: those of bases come first, in their order."""

    id = serializers.IntegerField(help_text="The settlement's id.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    client_id = ShownClientId()
    from_ = UserSummary(source="sender", help_text="Who paid.")
    to = UserSummary(source="receiver", help_text="Who received it.")


class SettlementSerializer(_SettlementPeople, EnteredAmount):
    """A payment from one person to another."""

    settled_on = serializers.DateField(help_text="The day of the payment.")
    note = serializers.CharField(help_text="May be empty.")
    created_at = serializers.DateTimeField(help_text="When it was recorded.")


class RecordedSettlementSerializer(SettlementSerializer):
    """A payment that was just recorded."""

    credit = MoneyField(
        help_text=(
            "What is left over, in the trip's currency: it was not owed between the two, and "
            "covers what will be."
        )
    )


class BalanceSerializer(CamelCaseSerializer):
    """A member's sums; `balance` = `paid` - `share` + `sent` - `received`."""

    user = UserSummary(help_text="A member, or a former member with an entry.")
    paid = MoneyField(help_text="What they paid for expenses, in the trip's currency.")
    share = MoneyField(help_text="Their part of all expenses, in the trip's currency.")
    sent = MoneyField(help_text="What they handed to others, in the trip's currency.")
    received = MoneyField(help_text="What others handed to them, in the trip's currency.")
    balance = MoneyField(
        help_text="Above zero, they get money back; below, they owe it. In the trip's currency."
    )


class TransferSerializer(CamelCaseSerializer):
    """One payment, as a plan or preview suggests it."""

    from_ = UserSummary(source="sender", help_text="Who pays.")
    to = UserSummary(source="receiver", help_text="Who receives it.")
    amount = MoneyField(help_text="The amount, in the trip's currency.")


class SettleUpRequest(CamelCaseSerializer):
    """The plan to record."""

    tag = StrictText(
        max_length=64,
        required=False,
        help_text="The `ETag` of the plan that was read, with or without its quotes. It may be "
        "left out if the header `If-Match` has it.",
    )
