"""Shapes of expenses, splits, settlements and balances."""

import re
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, ClassVar

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from splits.models import Category, SplitType
from splits.models.division import SCALE
from tripcompanion.kit.currencies import MAX_AMOUNT, to_minor
from tripcompanion.kit.paths import MAX_ID
from tripcompanion.kit.serializers import (
    AmountField,
    CurrencyField,
    ExactNumber,
    IdField,
    MoneyField,
    Shape,
    StrictChoice,
    StrictDate,
    StrictText,
    UrlOrPath,
    minor_units,
)
from users.serializers import SUMMARY_EXAMPLE, UserSummary, example

MAX_PEOPLE = 1000
MAX_DECIMALS = 4
_ED = {"id": 2, "name": "Ed Editor", "email": "ed@example.com", "profilePicture": None}
SPLIT_EXAMPLE = {
    "id": 31,
    "expenseId": 12,
    "participant": _ED,
    "amount": 31.25,
    "percentage": None,
    "paid": False,
    "paidAmount": 0,
    "paidAt": None,
}
_EXPENSE_FIELDS_EXAMPLE = {
    "description": "Dinner in Alfama",
    "amount": 62.5,
    "expenseDate": "2026-05-14",
    "splitType": "EQUAL",
    "category": "FOOD",
    "receiptUrl": None,
    "notes": "",
}


@extend_schema_field({"type": "number"})
class ScaledField(serializers.Field):
    """Whole ten-thousandths of the row as an exact JSON number; read-only."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(read_only=True, **kwargs)

    def to_representation(self, value: int) -> Decimal:
        return (Decimal(value) / SCALE).normalize()


@extend_schema_field(
    {
        "type": "object",
        "propertyNames": {"pattern": "^[1-9][0-9]{0,17}$"},
        "additionalProperties": {"type": "number", "exclusiveMinimum": 0},
    }
)
class SplitAmountsField(serializers.Field):
    """`{"<userId>": number}`: amounts, percentages or weights, as the split type says."""

    default_error_messages = {
        "not_object": _("Must be an object of numbers by user id."),
        "user_id": _("Not a user id: {text}."),
    }

    def to_internal_value(self, data: Any) -> dict[int, Any]:
        if not isinstance(data, Mapping) or len(data) > MAX_PEOPLE:
            self.fail("not_object")
        for key in data:
            if not re.fullmatch(r"[1-9][0-9]{0,18}", key) or int(key) > MAX_ID:
                self.fail("user_id", text=key[:40])
        return {int(key): value for key, value in data.items()}

    def to_representation(self, value: Any) -> Any:
        return value


#: What stands in `splitAmounts`, by split type.
_ENTERED: Mapping[str, ExactNumber] = {
    SplitType.MANUAL: ExactNumber(maximum=MAX_AMOUNT),
    SplitType.PERCENTAGE: ExactNumber(maximum=Decimal(100), max_decimals=MAX_DECIMALS),
    SplitType.SHARES: ExactNumber(maximum=Decimal(10**6), max_decimals=MAX_DECIMALS),
}


@example({"userId": 1, "amount": 62.5})
class PayerRequest(Shape):
    """What one person put in."""

    user_id = IdField()
    amount = AmountField()


@example({**_EXPENSE_FIELDS_EXAMPLE, "participantUserIds": [1, 2], "paidByUserId": 1})
class ExpenseRequest(Shape):
    """An expense to record or to replace; PATCH takes any part of it.

    The context carries `trip` and, for changes, `expense`. `validated_data` is what
    `Expense.record` and `Expense.change` take: minor units, `put_in` and `division`.
    """

    description = StrictText(max_length=255)
    amount = AmountField()
    expense_date = StrictDate()
    split_type = StrictChoice(choices=SplitType.values)
    participant_user_ids = serializers.ListField(
        child=IdField(), allow_empty=False, max_length=MAX_PEOPLE
    )
    split_amounts = SplitAmountsField(required=False)
    paid_by_user_id = IdField(required=False)
    payers = serializers.ListField(
        child=PayerRequest(), required=False, allow_empty=False, max_length=MAX_PEOPLE
    )
    category = StrictChoice(choices=Category.values, default=Category.OTHER)
    receipt_url = UrlOrPath(allow_null=True, default=None)
    notes = StrictText(max_length=2000, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        expense = self.context.get("expense")
        if "amount" in attrs:
            attrs["amount_minor"] = minor_units(
                "amount", attrs.pop("amount"), self.context["trip"].currency
            )
        division = {
            "participants": self._participants(attrs),
            "entered": self._entered(attrs, expense),
            "split_type": attrs.pop("split_type", None),
        }
        attrs["division"] = {name: value for name, value in division.items() if value is not None}
        amount_minor = attrs.get("amount_minor", expense and expense.amount_minor)
        attrs["put_in"] = self._put_in(attrs, amount_minor)
        return attrs

    def _participants(self, attrs: dict[str, Any]) -> tuple[int, ...] | None:
        user_ids = attrs.pop("participant_user_ids", None)
        if user_ids is None:
            return None
        if len(set(user_ids)) < len(user_ids):
            text = _("A participant is named twice.")
            raise serializers.ValidationError({"participantUserIds": [text]})
        return tuple(user_ids)

    def _entered(self, attrs: dict[str, Any], expense: Any) -> dict[int, int] | None:
        raw = attrs.pop("split_amounts", None)
        split_type = attrs.get("split_type", expense and expense.split_type)
        if raw is None or split_type == SplitType.EQUAL:
            return None
        currency = self.context["trip"].currency
        entered, errors = {}, {}
        for user_id, value in raw.items():
            try:
                number = _ENTERED[split_type].run_validation(value)
            except serializers.ValidationError as error:
                errors[str(user_id)] = error.detail
            else:
                is_money = split_type == SplitType.MANUAL
                entered[user_id] = to_minor(number, currency) if is_money else int(number * SCALE)
        if errors:
            raise serializers.ValidationError({"splitAmounts": errors})
        return entered

    def _put_in(self, attrs: dict[str, Any], amount_minor: Any) -> dict[int, int] | None:
        paid_by = attrs.pop("paid_by_user_id", None)
        payers = attrs.pop("payers", None)
        if payers is None:
            return None if paid_by is None else {paid_by: amount_minor}
        currency = self.context["trip"].currency
        put_in = {
            payer["user_id"]: minor_units(f"payers.{at}.amount", payer["amount"], currency)
            for at, payer in enumerate(payers)
        }
        if len(put_in) < len(payers):
            raise serializers.ValidationError({"payers": [_("A payer is named twice.")]})
        if paid_by not in {None, payers[0]["user_id"]}:
            text = _("Must be the first of the payers, or be left out.")
            raise serializers.ValidationError({"paidByUserId": [text]})
        return put_in


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
        amount_minor = minor_units("amount", attrs["amount"], self.context["currency"])
        return {**part, "amount_minor": amount_minor}


@example({"fromUserId": 2, "toUserId": 1, "amount": 31.25, "settledOn": "2026-05-20", "note": ""})
class SettlementRequest(Shape):
    """Money that one member handed to another; the context carries `currency`."""

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
        latest = timezone.now().date() + timedelta(days=1)
        if attrs.get("settled_on", latest) > latest:
            raise serializers.ValidationError({"settledOn": [_("Must not be in the future.")]})
        attrs["amount_minor"] = minor_units("amount", attrs.pop("amount"), self.context["currency"])
        attrs["sender_id"] = attrs.pop("from_user_id")
        attrs["receiver_id"] = attrs.pop("to_user_id")
        return attrs


@example(SPLIT_EXAMPLE)
class ExpenseSplitSerializer(Shape):
    """ExpenseSplitDTO."""

    id = serializers.IntegerField()
    expense_id = serializers.IntegerField()
    participant = UserSummary()
    amount = MoneyField(currency="expense.trip.currency")
    percentage = ScaledField(source="percentage_e4", allow_null=True)
    paid = serializers.BooleanField()
    paid_amount = MoneyField(source="paid", currency="expense.trip.currency")
    paid_at = serializers.DateTimeField(allow_null=True)


@example({"user": SUMMARY_EXAMPLE, "amount": 62.5})
class PayerSerializer(Shape):
    """What one person put into an expense."""

    user = UserSummary()
    amount = MoneyField(currency="expense.trip.currency")


@example(
    {
        "id": 12,
        "tripId": 7,
        **_EXPENSE_FIELDS_EXAMPLE,
        "currency": "EUR",
        "paidBy": SUMMARY_EXAMPLE,
        "payers": [{"user": SUMMARY_EXAMPLE, "amount": 62.5}],
        "splits": [SPLIT_EXAMPLE],
        "createdAt": "2026-05-14T21:40:00Z",
        "updatedAt": "2026-05-14T21:40:00Z",
    }
)
class ExpenseSerializer(Shape):
    """An expense with who paid and who has which part."""

    id = serializers.IntegerField()
    trip_id = serializers.IntegerField()
    description = serializers.CharField()
    amount = MoneyField(currency="trip.currency")
    currency = serializers.CharField(source="trip.currency")
    expense_date = serializers.DateField()
    category = serializers.ChoiceField(choices=Category.choices)
    split_type = serializers.ChoiceField(choices=SplitType.choices)
    paid_by = UserSummary()
    payers = PayerSerializer(many=True)
    receipt_url = serializers.CharField(allow_null=True)
    notes = serializers.CharField()
    splits = ExpenseSplitSerializer(many=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


@example(
    {
        "id": 5,
        "tripId": 7,
        "from": _ED,
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


@example({"from": _ED, "to": SUMMARY_EXAMPLE, "amount": 31.25})
class TransferSerializer(Shape):
    """One payment of a settle-up plan."""

    from_ = UserSummary(source="sender")
    to = UserSummary(source="receiver")
    amount = MoneyField()


class DebtQuery(Shape):
    """Query of the total debt."""

    currency = CurrencyField(required=False)


class TotalDebtSerializer(serializers.BaseSerializer):
    """One bare JSON number: what a user still owes, in the asked-for currency."""

    json_schema: ClassVar = {"type": "number", "minimum": 0, "examples": [31.25]}

    def to_representation(self, instance: Decimal) -> Decimal:
        return instance
