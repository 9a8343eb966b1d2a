"""Serializers of settlements, balances and plans."""

from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from splits.models.settlement import today
from tripcompanion.api.serializers import CamelCaseSerializer, IdField, StrictDate, StrictText
from tripcompanion.currency.amounts import Amount
from tripcompanion.currency.fields import AmountField, MoneyField
from users.serializers import UserSummary

#: What an entry of a balance may be.
KINDS = ["EXPENSE", "SETTLEMENT"]


class SettlementRequest(CamelCaseSerializer):
    """A payment from one member to another.

    The context carries the trip's `currency`.
    """

    from_user_id = IdField(source="sender_id", help_text="Who handed over the money; a member.")
    to_user_id = IdField(source="receiver_id", help_text="Who received it; another member.")
    amount = AmountField(help_text="The amount, in the trip's currency.")
    settled_on = StrictDate(required=False, help_text="The day, not in the future. Default: today.")
    note = StrictText(
        required=False,
        max_length=2000,
        allow_blank=True,
        help_text="At most 2,000 characters. Default: empty.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["sender_id"] == attrs["receiver_id"]:
            text = _("Sender and receiver must differ.")
            raise serializers.ValidationError({"toUserId": [text]})
        # One day of tolerance, because in some time zones it is already tomorrow.
        latest = today() + timedelta(days=1)
        if attrs.get("settled_on", latest) > latest:
            raise serializers.ValidationError({"settledOn": [_("Must not be in the future.")]})
        attrs["amount"] = Amount(attrs["amount"], self.context["currency"])
        return attrs


class SettlementSerializer(CamelCaseSerializer):
    """A payment from one person to another."""

    id = serializers.IntegerField(help_text="The settlement's id.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    from_ = UserSummary(source="sender", help_text="Who paid.")
    to = UserSummary(source="receiver", help_text="Who received it.")
    amount = MoneyField(currency="trip.currency", help_text="The amount, in the trip's currency.")
    settled_on = serializers.DateField(help_text="The day of the payment.")
    note = serializers.CharField(help_text="May be empty.")
    created_at = serializers.DateTimeField(help_text="When it was recorded.")


class BalanceSerializer(CamelCaseSerializer):
    """A member's sums; `balance` = `paid` - `share` + `sent` - `received`."""

    user = UserSummary(help_text="A member, or a former member with an entry.")
    paid = MoneyField(
        currency="trip.currency", help_text="What they paid for expenses, in the trip's currency."
    )
    share = MoneyField(
        currency="trip.currency", help_text="Their part of all expenses, in the trip's currency."
    )
    sent = MoneyField(
        currency="trip.currency", help_text="What they handed to others, in the trip's currency."
    )
    received = MoneyField(
        currency="trip.currency", help_text="What others handed to them, in the trip's currency."
    )
    balance = MoneyField(
        currency="trip.currency",
        help_text="Above zero, they get money back; below, they owe it. In the trip's currency.",
    )


class TransferSerializer(CamelCaseSerializer):
    """One payment, as a plan or preview suggests it."""

    from_ = UserSummary(source="sender", help_text="Who pays.")
    to = UserSummary(source="receiver", help_text="Who receives it.")
    amount = MoneyField(currency="trip.currency", help_text="The amount, in the trip's currency.")


class SettleUpRequest(CamelCaseSerializer):
    """The plan to record."""

    tag = StrictText(
        max_length=64, help_text="The `ETag` of the plan that was read, without its quotes."
    )


class BalanceLineSerializer(CamelCaseSerializer):
    """One entry of a balance, with the balance after it."""

    kind = serializers.ChoiceField(choices=KINDS, help_text="What the entry is.")
    id = serializers.IntegerField(help_text="The id of the expense or settlement.")
    date = serializers.DateField(source="day", help_text="The day of the expense or settlement.")
    description = serializers.CharField(
        help_text="The description of the expense, or the note of the settlement."
    )
    recorded_at = serializers.DateTimeField(help_text="When it was recorded.")
    paid = MoneyField(help_text="What the member paid for it, in the trip's currency.")
    share = MoneyField(help_text="Their part of it, in the trip's currency.")
    sent = MoneyField(help_text="What they handed over, in the trip's currency.")
    received = MoneyField(help_text="What they received, in the trip's currency.")
    change = MoneyField(help_text="`paid` - `share` + `sent` - `received`.")
    balance = MoneyField(help_text="Their balance after this entry, in the trip's currency.")
