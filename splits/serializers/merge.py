"""Serializers of merging a guest with another member."""

from rest_framework import serializers

from tripcompanion.api.serializers import CamelCaseSerializer, IdField, StrictBoolean
from tripcompanion.currency.fields import MoneyField
from users.serializers import UserSummary


class MergeRequest(CamelCaseSerializer):
    """The member who gets the entries of the guest."""

    user_id = IdField(help_text="Another member of the trip.")
    dry_run = StrictBoolean(
        required=False, help_text="Whether to answer the same but change nothing. Default: false."
    )


class MergeSerializer(CamelCaseSerializer):
    """What a merge moves."""

    guest = UserSummary(source="guest.user", help_text="Who was, or would be, merged.")
    user = UserSummary(source="member.user", help_text="The member who gets the entries.")
    expenses = serializers.IntegerField(
        source="expense_count", help_text="How many expenses name the guest."
    )
    settlements = serializers.IntegerField(
        source="settlement_count",
        help_text="How many settlements name the guest.",
    )
    balance_before = MoneyField(
        currency="trip.currency",
        help_text="The balance of the user before, in the trip's currency.",
    )
    balance_after = MoneyField(
        currency="trip.currency",
        help_text="The balance of the user after, which is that of both.",
    )
