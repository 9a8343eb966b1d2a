"""Serializers of expenses and their previews in responses."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from splits.models import Category, SplitType
from splits.models.items import load_items
from splits.models.plugin_fields import plugin_fields
from splits.serializers.settlement import EnteredAmount, TransferSerializer
from splits.serializers.split import ExpenseSplitSerializer, PercentageField, PlainDecimal
from tripcompanion.api.serializers import CamelCaseSerializer, ShownClientId
from tripcompanion.currency.fields import MoneyField
from users.serializers.account import UserSummary


@extend_schema_field({"type": "object", "additionalProperties": {"type": "number"}})
class WeightsField(serializers.DictField):
    """Weights by user id; read-only."""


@extend_schema_field({"type": "object", "additionalProperties": {"type": "number"}})
class EnteredField(serializers.ReadOnlyField):
    """Amounts, percentages or weights by user id; read-only."""


class ItemSerializer(CamelCaseSerializer):
    """Something that was bought, and who shares it."""

    name = serializers.CharField(help_text="What it was.")
    amount = PlainDecimal(help_text="What it cost, in the expense's currency.")
    shares = WeightsField(help_text="Weights by user id.")


@extend_schema_field(ItemSerializer(many=True))
class ItemsField(serializers.ReadOnlyField):
    """The items of an expense, or one of its extras, from the JSON that is stored; read-only."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(source="stored_items", allow_null=True, **kwargs)

    def to_representation(self, value: str) -> Any:
        return load_items(value).get(self.field_name or "")


@extend_schema_field({"type": "number"})
class ExtraField(ItemsField):
    """Tax, tip or discount of the items; read-only."""


class PreviewSplitSerializer(CamelCaseSerializer):
    """One person's part of an expense preview."""

    participant = UserSummary(help_text="Whose part it is.")
    amount = MoneyField(
        currency="expense.trip.currency", help_text="Their part, in the trip's currency."
    )
    percentage = PercentageField()


class PayerSerializer(CamelCaseSerializer):
    """What one person paid for an expense."""

    user = UserSummary(help_text="Who paid.")
    amount = MoneyField(
        source="entered",
        currency="expense.currency",
        help_text="What they paid, in the expense's currency.",
    )


class _ExpenseName(CamelCaseSerializer):
    """The fields of an expense before its amounts: those of bases come first, in their order."""

    id = serializers.IntegerField(help_text="The expense's id.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    client_id = ShownClientId()
    description = serializers.CharField(help_text="What it was.")


class ExpenseSerializer(_ExpenseName, EnteredAmount):
    """An expense with its payers and splits."""

    expense_date = serializers.DateField(help_text="The day of the expense.")
    category = serializers.ChoiceField(choices=Category.values, help_text="What it was for.")
    split_type = serializers.ChoiceField(choices=SplitType.values, help_text="How it is divided.")
    items = ItemsField(help_text="What was bought, for `ITEMIZED`; null for other split types.")
    tax = ExtraField(help_text="Tax besides the items; null if none was entered.")
    tip = ExtraField(help_text="The tip besides the items; null if none was entered.")
    discount = ExtraField(help_text="What was taken off the sum; null if none was entered.")
    participant_user_ids = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Among whom it is divided; null if splits were added or deleted by hand.",
    )
    split_amounts = EnteredField(
        allow_null=True,
        help_text=(
            "What was entered for them, as in the request; null for `EQUAL` and `ITEMIZED`, and if "
            "splits were added or deleted by hand."
        ),
    )
    paid_by = UserSummary(help_text="Who paid it; of several, the first.")
    payers = PayerSerializer(
        many=True,
        source="loaded_payers",
        help_text="Everybody who paid; their amounts add up to `amount`.",
    )
    receipt_url = serializers.CharField(
        allow_null=True, help_text="A URL or a path on the front end; null if none is set."
    )
    notes = serializers.CharField(help_text="May be empty.")
    tags = serializers.ListField(
        child=serializers.CharField(), help_text="In the order in which they were entered."
    )
    splits = ExpenseSplitSerializer(
        many=True,
        source="loaded_splits",
        help_text="Each participant's part. What no split covers is borne by the payers.",
    )
    created_at = serializers.DateTimeField(help_text="When it was recorded.")
    updated_at = serializers.DateTimeField(help_text="When it last changed, without payments.")
    locals().update({name: one.response for name, one in plugin_fields().items()})


class ExpensePreviewSerializer(EnteredAmount):
    """How an expense would be divided, and who would owe whom for it."""

    splits = PreviewSplitSerializer(
        many=True, source="loaded_splits", help_text="Each participant's part."
    )
    debts = TransferSerializer(many=True, help_text="Who would owe whom for it.")
