"""Shapes of expenses: what is entered, and what is shown."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from splits.models import Category, SplitType
from splits.models.division import SCALE
from splits.serializers.settlement import TransferSerializer
from splits.serializers.split import (
    ED_EXAMPLE,
    MAX_DECIMALS,
    SPLIT_EXAMPLE,
    ExpenseSplitSerializer,
    ScaledField,
)
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
    camel_case,
    example,
    minor_units,
)
from users.serializers import SUMMARY_EXAMPLE, UserSummary

MAX_PEOPLE = 1000
#: Each participant may owe each payer, so this bounds what one expense adds to the ledger.
MAX_PAYERS = 20
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
class PlainDecimal(serializers.Field):
    """A decimal of the row as an exact JSON number without trailing zeros; read-only."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(read_only=True, **kwargs)

    def to_representation(self, value: Decimal) -> Decimal:
        return value.normalize()


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

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # A PATCH may leave out fields of the expense, but not of a payer in it.
        missing = [name for name in ("user_id", "amount") if name not in attrs]
        if missing:
            text = self.fields[camel_case(missing[0])].error_messages["required"]
            raise serializers.ValidationError({camel_case(name): [text] for name in missing})
        return attrs


@example({**_EXPENSE_FIELDS_EXAMPLE, "participantUserIds": [1, 2], "paidByUserId": 1})
class ExpenseRequest(Shape):
    """An expense to record or to replace; PATCH takes any part of it.

    The context carries `trip` and, for changes, `expense`. `validated_data` is what
    `Expense.record` and `Expense.change` take: minor units, `put_in` and `division`.
    """

    description = StrictText(max_length=255)
    amount = AmountField()
    currency = CurrencyField(required=False)
    exchange_rate = ExactNumber(
        required=False, allow_null=True, maximum=Decimal(10**6), max_decimals=9
    )
    expense_date = StrictDate()
    split_type = StrictChoice(choices=SplitType.values)
    participant_user_ids = serializers.ListField(
        child=IdField(), allow_empty=False, max_length=MAX_PEOPLE
    )
    split_amounts = SplitAmountsField(required=False)
    paid_by_user_id = IdField(required=False)
    payers = serializers.ListField(
        child=PayerRequest(), required=False, allow_empty=False, max_length=MAX_PAYERS
    )
    category = StrictChoice(choices=Category.values, default=Category.OTHER)
    receipt_url = UrlOrPath(allow_null=True, default=None)
    notes = StrictText(max_length=2000, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        expense = self.context.get("expense")
        currency = self._currency(attrs, expense)
        if "amount" in attrs:
            attrs["entered_minor"] = minor_units("amount", attrs.pop("amount"), currency)
        division = {
            "participants": self._participants(attrs),
            "entered": self._entered(attrs, expense, currency),
            "split_type": attrs.pop("split_type", None),
        }
        attrs["division"] = {name: value for name, value in division.items() if value is not None}
        entered_minor = attrs.get("entered_minor", expense and expense.entered_minor)
        single = "paid_by_user_id" in attrs or not self.partial
        attrs["payers_field"] = "paidByUserId" if single and "payers" not in attrs else "payers"
        attrs["put_in"] = self._put_in(attrs, entered_minor, currency)
        return attrs

    def _currency(self, attrs: dict[str, Any], expense: Any) -> str:
        """The currency that amounts are meant in; a rate is for another than the trip's only."""
        trip_currency = self.context["trip"].currency
        if expense is None or not self.partial:
            attrs.setdefault("currency", trip_currency)
        currency = attrs.get("currency", expense and expense.currency)
        if expense is not None and currency != expense.currency and "amount" not in attrs:
            text = _("Give the amount in the new currency.")
            raise serializers.ValidationError({"amount": [text]})
        if attrs.get("exchange_rate") is not None and currency == trip_currency:
            text = _("The amount is in the trip's currency already.")
            raise serializers.ValidationError({"exchangeRate": [text]})
        return currency

    def _participants(self, attrs: dict[str, Any]) -> tuple[int, ...] | None:
        user_ids = attrs.pop("participant_user_ids", None)
        if user_ids is None:
            return None
        if len(set(user_ids)) < len(user_ids):
            text = _("A participant is named twice.")
            raise serializers.ValidationError({"participantUserIds": [text]})
        return tuple(user_ids)

    def _entered(self, attrs: dict[str, Any], expense: Any, currency: str) -> dict[int, int] | None:
        raw = attrs.pop("split_amounts", None)
        split_type = attrs.get("split_type", expense and expense.split_type)
        if raw is None or split_type == SplitType.EQUAL:
            return None
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

    def _put_in(
        self, attrs: dict[str, Any], entered_minor: Any, currency: str
    ) -> dict[int, int] | None:
        paid_by = attrs.pop("paid_by_user_id", None)
        payers = attrs.pop("payers", None)
        if payers is None:
            return None if paid_by is None else {paid_by: entered_minor}
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


@example({"participant": ED_EXAMPLE, "amount": 31.25, "percentage": None})
class PreviewSplitSerializer(Shape):
    """One person's part of an expense that is not recorded."""

    participant = UserSummary()
    amount = MoneyField(currency="expense.trip.currency")
    percentage = ScaledField(source="percentage_e4", allow_null=True)


@example({"user": SUMMARY_EXAMPLE, "amount": 62.5})
class PayerSerializer(Shape):
    """What one person put into an expense."""

    user = UserSummary()
    amount = MoneyField(source="entered", currency="expense.currency")


@example(
    {
        "id": 12,
        "tripId": 7,
        **_EXPENSE_FIELDS_EXAMPLE,
        "currency": "EUR",
        "tripAmount": 62.5,
        "tripCurrency": "EUR",
        "exchangeRate": None,
        "exchangeRateSource": "",
        "exchangeRateDate": None,
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
    amount = MoneyField(source="entered")
    currency = serializers.CharField()
    trip_amount = MoneyField(source="amount", currency="trip.currency")
    trip_currency = serializers.CharField(source="trip.currency")
    exchange_rate = PlainDecimal(allow_null=True)
    exchange_rate_source = serializers.CharField(source="rate_source")
    exchange_rate_date = serializers.DateField(source="rate_day", allow_null=True)
    expense_date = serializers.DateField()
    category = serializers.ChoiceField(choices=Category.choices)
    split_type = serializers.ChoiceField(choices=SplitType.choices)
    paid_by = UserSummary()
    payers = PayerSerializer(many=True, source="shown_payers")
    receipt_url = serializers.CharField(allow_null=True)
    notes = serializers.CharField()
    splits = ExpenseSplitSerializer(many=True, source="shown_splits")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


@example(
    {
        "amount": 62.5,
        "currency": "EUR",
        "tripAmount": 62.5,
        "tripCurrency": "EUR",
        "exchangeRate": None,
        "exchangeRateSource": "",
        "exchangeRateDate": None,
        "splits": [{"participant": ED_EXAMPLE, "amount": 31.25, "percentage": None}],
        "debts": [{"from": ED_EXAMPLE, "to": SUMMARY_EXAMPLE, "amount": 31.25}],
    }
)
class ExpensePreviewSerializer(Shape):
    """What an expense would be divided into, and who would owe whom for it."""

    amount = MoneyField(source="expense.entered", currency="expense.currency")
    currency = serializers.CharField(source="expense.currency")
    trip_amount = MoneyField(source="expense.amount", currency="expense.trip.currency")
    trip_currency = serializers.CharField(source="expense.trip.currency")
    exchange_rate = PlainDecimal(source="expense.exchange_rate", allow_null=True)
    exchange_rate_source = serializers.CharField(source="expense.rate_source")
    exchange_rate_date = serializers.DateField(source="expense.rate_day", allow_null=True)
    splits = PreviewSplitSerializer(many=True)
    debts = TransferSerializer(many=True)
