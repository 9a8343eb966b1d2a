"""Serializers of the bodies of expenses; the responses are in `expense_response`."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from splits.models import Category, SplitType
from splits.models.division import MAX_WEIGHT, SCALE
from splits.models.payer import MAX_PAYERS
from splits.serializers.split import MAX_DECIMALS
from tripcompanion.api.ids import TEXT_SCHEMA, parse_id
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    ExactNumber,
    IdField,
    StrictChoice,
    StrictDate,
    StrictList,
    StrictText,
    UrlOrPath,
    camel_case,
    number_schema,
)
from tripcompanion.currency.amounts import MAX_AMOUNT, to_minor
from tripcompanion.currency.fields import (
    AmountField,
    CurrencyField,
    minor_units,
)

MAX_PEOPLE = 1000


@extend_schema_field(
    {
        "type": "object",
        "propertyNames": TEXT_SCHEMA,
        "additionalProperties": number_schema(minimum=0, maximum=int(MAX_AMOUNT)),
    },
    component_name="SplitAmounts",
)
class SplitAmountsField(serializers.Field):
    """`{"<userId>": number}`: amounts, percentages or weights, by split type."""

    default_error_messages = {
        "not_object": gettext_lazy("Must be an object of numbers by user id."),
        "user_id": gettext_lazy("Not a user id: {text}."),
    }

    def to_internal_value(self, data: Any) -> dict[int, Any]:
        if not isinstance(data, Mapping) or len(data) > MAX_PEOPLE:
            self.fail("not_object")
        return {self._user_id(key): value for key, value in data.items()}

    def _user_id(self, key: str) -> int:
        try:
            return parse_id(key)
        except ValueError:
            self.fail("user_id", text=key[:40])

    def to_representation(self, value: Any) -> Any:
        return value


#: The field that validates a value in `splitAmounts`, by split type.
_ENTERED: Mapping[str, ExactNumber] = {
    SplitType.MANUAL: ExactNumber(maximum=MAX_AMOUNT),
    SplitType.PERCENTAGE: ExactNumber(maximum=Decimal(100), max_decimals=MAX_DECIMALS),
    SplitType.SHARES: ExactNumber(maximum=Decimal(MAX_WEIGHT), max_decimals=MAX_DECIMALS),
}


class PayerRequest(CamelCaseSerializer):
    """What one person paid."""

    user_id = IdField(help_text="A member, listed once.")
    amount = AmountField(help_text="What they paid, in the expense's currency.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # A PATCH may omit fields of the expense, but not of its payers.
        missing = [name for name in ("user_id", "amount") if name not in attrs]
        if missing:
            text = self.fields[camel_case(missing[0])].error_messages["required"]
            raise serializers.ValidationError({camel_case(name): [text] for name in missing})
        return attrs


class ExpenseRequest(CamelCaseSerializer):
    """An expense to record, or what to replace one with.

    The context carries `trip` and, for changes, `expense`. `validated_data` is what
    `Expense.record` and `Expense.change` take: minor units, `paid_by_user` and `division`.
    """

    description = StrictText(max_length=255, help_text="What it was, at most 255 characters.")
    amount = AmountField(
        help_text="What it cost, in `currency`; further decimals are rounded half up."
    )
    currency = CurrencyField(
        required=False, help_text="The currency of all amounts in this body. Default: the trip's."
    )
    exchange_rate = ExactNumber(
        required=False,
        allow_null=True,
        maximum=Decimal(10**6),
        max_decimals=9,
        help_text=(
            "What one unit of `currency` is worth in the trip's currency, at most 9 "
            "decimals; only if they differ. Default: null, the latest stored rate."
        ),
    )
    expense_date = StrictDate(help_text="The day of the expense.")
    split_type = StrictChoice(
        choices=SplitType.values, help_text="How it is divided; see `splitAmounts`."
    )
    participant_user_ids = StrictList(
        child=IdField(),
        allow_empty=False,
        max_length=MAX_PEOPLE,
        help_text="Between whom it is divided: members, each listed once.",
    )
    split_amounts = SplitAmountsField(
        required=False,
        help_text=(
            "Figures by user id, one for each participant. For `MANUAL` the amounts, which "
            "add up to `amount`; for `PERCENTAGE` the percentages, which add up to 100; for "
            "`SHARES` the weights, such as 1 and 2. `EQUAL` needs none. Percentages and "
            "weights have at most 4 decimals."
        ),
    )
    paid_by_user_id = IdField(
        required=False,
        help_text="Who paid everything; a member. Default: the caller. A PATCH keeps the payers.",
    )
    payers = StrictList(
        child=PayerRequest(),
        required=False,
        allow_empty=False,
        max_length=MAX_PAYERS,
        help_text=(
            "Several people who paid, at most 20, instead of `paidByUserId`; their amounts "
            "add up to `amount`."
        ),
    )
    category = StrictChoice(
        choices=Category.values,
        default=Category.OTHER,
        help_text="What it was for. Default: `OTHER`.",
    )
    receipt_url = UrlOrPath(
        allow_null=True,
        default=None,
        help_text="An http(s) URL, or a path on the front end. Default: null.",
    )
    notes = StrictText(
        max_length=2000,
        allow_blank=True,
        default="",
        help_text="At most 2,000 characters. Default: empty.",
    )

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
        single = "paid_by_user_id" in attrs or not self.partial
        attrs["payers_field"] = "paidByUserId" if single and "payers" not in attrs else "payers"
        attrs["paid_by_user"] = self._put_in(attrs, currency)
        return attrs

    def _currency(self, attrs: dict[str, Any], expense: Any) -> str:
        """The currency of the amounts; a rate is allowed only if it is not the trip's."""
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
            text = _("A participant is listed twice.")
            raise serializers.ValidationError({"participantUserIds": [text]})
        return tuple(user_ids)

    def _entered(self, attrs: dict[str, Any], expense: Any, currency: str) -> dict[int, int] | None:
        raw = attrs.pop("split_amounts", None)
        split_type = attrs.get("split_type", expense and expense.split_type)
        if raw and split_type == SplitType.EQUAL:
            text = _(
                "An equal division takes no amounts; send another splitType or leave them out."
            )
            raise serializers.ValidationError({"splitAmounts": [text]})
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

    def _put_in(self, attrs: dict[str, Any], currency: str) -> dict[int, int | None] | None:
        paid_by = attrs.pop("paid_by_user_id", None)
        payers = attrs.pop("payers", None)
        if payers is None:
            return None if paid_by is None else {paid_by: None}
        paid_by_user: dict[int, int | None] = {
            payer["user_id"]: minor_units(f"payers.{at}.amount", payer["amount"], currency)
            for at, payer in enumerate(payers)
        }
        if len(paid_by_user) < len(payers):
            raise serializers.ValidationError({"payers": [_("A payer is listed twice.")]})
        if paid_by not in {None, payers[0]["user_id"]}:
            text = _("Must be the first payer, or be omitted.")
            raise serializers.ValidationError({"paidByUserId": [text]})
        return paid_by_user
