"""Serializers of the bodies of expenses; the responses are in `expense_response`."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from splits.models import Category, SplitType
from splits.models.division import OF_AMOUNTS, default_division
from splits.models.items import EXTRAS, SCALE, Item, Items
from splits.models.payer import MAX_PAYERS
from splits.models.plugin_fields import plugin_fields
from splits.models.tag import MAX_TAG_CHARS, MAX_TAGS, clean_tags
from splits.serializers.settlement import require_other_currency
from tripcompanion.api.serializers import (
    MAX_PEOPLE,
    CamelCaseSerializer,
    ExactNumber,
    IdField,
    NewClientId,
    NumbersById,
    StrictChoice,
    StrictDate,
    StrictList,
    StrictText,
    UrlOrPath,
    numbers_of,
    numbers_schema,
)
from tripcompanion.currency.amounts import MAX_AMOUNT, minor_units, to_minor
from tripcompanion.currency.fields import AmountField, CurrencyField, RateField
from trips.models.default_division import MAX_DECIMALS, MAX_WEIGHT

MAX_ITEMS = 200
#: The shares of all items together, so that lists of expenses stay small.
MAX_ITEM_SHARES = 5000


@extend_schema_field(
    numbers_schema(least=-int(MAX_AMOUNT), maximum=int(MAX_AMOUNT)), component_name="SplitAmounts"
)
class SplitAmountsField(NumbersById):
    """`{"<userId>": number}`: amounts, percentages or weights, by split type."""


_WEIGHT = ExactNumber(maximum=Decimal(MAX_WEIGHT), max_decimals=MAX_DECIMALS)
#: The field that validates a value in `splitAmounts`, by split type.
_ENTERED: Mapping[str, ExactNumber] = {
    SplitType.MANUAL: AmountField(signed=True),
    SplitType.PERCENTAGE: ExactNumber(maximum=Decimal(100), max_decimals=MAX_DECIMALS),
    SplitType.SHARES: _WEIGHT,
    SplitType.ADJUSTMENT: AmountField(signed=True),
}


class TagsField(StrictList):
    """Tags as they are stored; see `clean_tags`."""

    def to_internal_value(self, data: Any) -> list[str]:
        return clean_tags(super().to_internal_value(data))


@extend_schema_field(
    numbers_schema(maximum=MAX_WEIGHT) | {"description": "Who shares an item: weights by user id."},
    component_name="ItemWeights",
)
class ItemSharesField(NumbersById):
    """`{"<userId>": weight}`; the weights in ten-thousandths in Python."""

    default_error_messages = {"empty": gettext_lazy("Somebody must share it.")}

    def to_internal_value(self, data: Any) -> dict[int, int]:
        weights = numbers_of(super().to_internal_value(data), _WEIGHT)
        if not weights:
            self.fail("empty")
        return {user_id: int(weight * SCALE) for user_id, weight in weights.items()}


def _require(body: CamelCaseSerializer, is_given: Mapping[str, bool]) -> None:
    """Raise if one of these fields is not given."""
    missing = [name for name, given in is_given.items() if not given]
    if missing:
        text = body.fields[missing[0]].error_messages["required"]
        raise serializers.ValidationError({name: [text] for name in missing})


class RowRequest(CamelCaseSerializer):
    """A row of an expense, in which a PATCH may omit no field."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        _require(self, {name: field.source in attrs for name, field in self.fields.items()})
        return attrs


class ItemRequest(RowRequest):
    """Something that was bought, and who shares it."""

    name = StrictText(max_length=100, help_text="What it was, at most 100 characters.")
    amount = AmountField(signed=True, help_text="What it cost, in the expense's currency.")
    shares = ItemSharesField(help_text="Who shares it: positive weights by user id.")


def items_of(
    rows: Sequence[Mapping[str, Any]], extras: Mapping[str, Decimal], currency: str
) -> Items:
    """Items of validated `ItemRequest`s, with validated amounts by the names in `EXTRAS`."""
    if sum(len(row["shares"]) for row in rows) > MAX_ITEM_SHARES:
        text = _("The items have more than %(limit)s shares.") % {"limit": MAX_ITEM_SHARES}
        raise serializers.ValidationError({"items": [text]})
    lines = (Item(row["name"], to_minor(row["amount"], currency), row["shares"]) for row in rows)
    minor = {name: to_minor(amount, currency) for name, amount in extras.items()}
    return Items(tuple(lines), minor)


class PayerRequest(RowRequest):
    """What one person paid."""

    user_id = IdField(help_text="A member, listed once.")
    amount = AmountField(
        signed=True,
        may_be_zero=False,
        help_text="What they paid, in the expense's currency; negative in a refund.",
    )

    def to_internal_value(self, data: Any) -> Any:
        # A response, which may be sent back, has the user there.
        user = data.get("user") if isinstance(data, Mapping) and "userId" not in data else None
        if isinstance(user, Mapping) and "id" in user:
            data = {**data, "userId": user["id"]}
        return super().to_internal_value(data)


def _extra(what: str) -> AmountField:
    text = f"{what}: for `ITEMIZED`, divided in proportion to what each person had. Default: none."
    return AmountField(signed=True, required=False, help_text=text)


class ExpenseRequest(CamelCaseSerializer):
    """What to replace an expense with; see `NewExpense`.

    The context carries `trip` and, for changes, `expense`. `validated_data` is what
    `Expense.record` and `Expense.change` take: minor units, `paid_by_user`, `division` and
    `options`.
    """

    description = StrictText(max_length=255, help_text="What it was, at most 255 characters.")
    amount = AmountField(
        signed=True,
        may_be_zero=False,
        help_text=(
            "What it cost, in `currency`; further decimals are rounded half up. Not 0. Negative "
            "for a refund, which one payer received and owes to the participants; all other "
            "amounts are negative then, too."
        ),
    )
    currency = CurrencyField(
        required=False, help_text="The currency of all amounts in this body. Default: the trip's."
    )
    exchange_rate = RateField(
        required=False,
        allow_null=True,
        help_text=(
            "What one unit of `currency` is worth in the trip's currency, at most 15 "
            "digits; only if they differ. Default: null, the rate that the European Central "
            "Bank published last, on `expenseDate` or before. A PATCH without it keeps the rate, "
            "also on another date; with null, the rate of the date is taken."
        ),
    )
    expense_date = StrictDate(help_text="The day of the expense.")
    split_type = StrictChoice(
        choices=SplitType.values,
        required=False,
        help_text=(
            "How it is divided; see `splitAmounts` and `items`. Required, unless neither this nor "
            "`participantUserIds` is sent and the trip says how its expenses are divided."
        ),
    )
    participant_user_ids = StrictList(
        child=IdField(),
        required=False,
        allow_empty=False,
        max_length=MAX_PEOPLE,
        help_text=(
            "Between whom it is divided: members, each listed once. Required with `splitType`, "
            "but not for `ITEMIZED`: these are those who share the items."
        ),
    )
    split_amounts = SplitAmountsField(
        required=False,
        help_text=(
            "Figures by user id, one for each participant. For `MANUAL` the amounts, which "
            "add up to `amount`; for `PERCENTAGE` the percentages, which add up to 100; for "
            "`SHARES` the weights, such as 1 and 2. For `ADJUSTMENT`, how much more or, negative, "
            "less than the others somebody bears; who is left out, and all others, bear equal "
            "parts of the rest. `EQUAL` and `ITEMIZED` take none. Percentages and weights have at "
            "most 4 decimals."
        ),
    )
    items = StrictList(
        child=ItemRequest(),
        required=False,
        allow_empty=False,
        max_length=MAX_ITEMS,
        help_text=(
            "For `ITEMIZED`: what was bought, at most 200 items with 5,000 shares. With `tax` and "
            "`tip`, less `discount`, they add up to `amount`. These four replace the stored ones "
            "together: whoever changes one of them, or the amount, sends the items."
        ),
    )
    tax = _extra("Tax that the amounts of the items do not include")
    tip = _extra("A tip")
    discount = _extra("What was taken off the sum")
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
    tags = TagsField(
        child=StrictText(max_length=MAX_TAG_CHARS),
        default=list,
        max_length=MAX_TAGS,
        help_text=(
            "Words of your own to find it by, at most 10 of at most 40 characters. Case makes no "
            "difference between two tags; a repeated one is dropped. Default: none."
        ),
    )
    locals().update({name: one.request for name, one in plugin_fields().items()})

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        expense = self.context.get("expense")
        currency = self._currency(attrs, expense)
        if "amount" in attrs:
            attrs["entered_minor"] = minor_units(
                "amount", attrs.pop("amount"), currency, signed=True
            )
        names_nobody = attrs.keys().isdisjoint({"participant_user_ids", "split_amounts"})
        items = self._items(attrs, expense, currency)
        if names_nobody and self._is_by_hand(attrs, expense, items):
            attrs["division"] = {}
        else:
            attrs["division"] = self._division(attrs, expense, items, currency)
        attrs.pop("split_type", None)
        if not self.partial:
            attrs.setdefault("exchange_rate", None)
        single = "paid_by_user_id" in attrs or not self.partial
        attrs["payers_field"] = "paidByUserId" if single and "payers" not in attrs else "payers"
        attrs["paid_by_user"] = self._put_in(attrs, currency)
        options = {name: attrs.pop(name) for name in plugin_fields() if name in attrs}
        return attrs | {"options": options} if options else attrs

    def _is_by_hand(self, attrs: Mapping[str, Any], expense: Any, items: Items | None) -> bool:
        """Whether a body that names no participants leaves splits made by hand alone."""
        if expense is None or expense.is_division or (self.partial and items is None):
            return False
        is_same_type = self.partial or attrs.get("split_type") == expense.split_type
        return is_same_type and items == Items.of(expense.stored_items, expense.currency)

    def _division(
        self, attrs: dict[str, Any], expense: Any, items: Items | None, currency: str
    ) -> dict[str, Any]:
        """The given fields of a `Division`; those that a whole body lacks are None."""
        if not self.partial and self._is_default(attrs, items):
            return {"entered": None, "items": None, **default_division(self.context["trip"])}
        division = {
            "participants": self._participants(attrs, items),
            "entered": self._entered(attrs, expense, currency),
            "items": items,
            "split_type": attrs.get("split_type"),
        }
        given = {name: value for name, value in division.items() if value is not None}
        return given if self.partial else {"entered": None, "items": None, **given}

    def _is_default(self, attrs: Mapping[str, Any], items: Items | None) -> bool:
        """Whether a whole body follows the trip's division; raises if it does not say enough."""
        sent = attrs.keys() & {"split_type", "participant_user_ids", "split_amounts"}
        if not sent and items is None and self.context["trip"].default_division is not None:
            return True
        is_given = {
            "splitType": "split_type" in attrs,
            "participantUserIds": "participant_user_ids" in attrs,
        }
        if attrs.get("split_type") == SplitType.ITEMIZED:
            is_given = {"items": items is not None}
        _require(self, is_given)
        return False

    def _currency(self, attrs: dict[str, Any], expense: Any) -> str:
        """The currency of the amounts; a rate is allowed only if it is not the trip's."""
        trip_currency = self.context["trip"].currency
        if expense is None or not self.partial:
            attrs.setdefault("currency", trip_currency)
        currency = attrs.get("currency", expense and expense.currency)
        if expense is not None and currency != expense.currency and "amount" not in attrs:
            text = _("Give the amount in the new currency.")
            raise serializers.ValidationError({"amount": [text]})
        if "exchange_rate" in attrs:
            require_other_currency(attrs, currency, trip_currency)
        return currency

    def _participants(self, attrs: dict[str, Any], items: Items | None) -> tuple[int, ...] | None:
        user_ids = attrs.pop("participant_user_ids", None)
        if user_ids is None:
            return None if items is None else items.people
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
        if raw and split_type == SplitType.ITEMIZED:
            text = _("The amounts follow from the items.")
            raise serializers.ValidationError({"splitAmounts": [text]})
        if raw is None or split_type not in _ENTERED:
            return None
        try:
            numbers = numbers_of(raw, _ENTERED[split_type])
            zeros = {user_id for user_id, number in numbers.items() if not number}
            if split_type == SplitType.MANUAL and zeros:
                self._require_stored(zeros, expense)
        except serializers.ValidationError as error:
            raise serializers.ValidationError({"splitAmounts": error.detail}) from error
        if split_type in OF_AMOUNTS:
            return {user_id: to_minor(number, currency) for user_id, number in numbers.items()}
        return {user_id: int(number * SCALE) for user_id, number in numbers.items()}

    def _require_stored(self, zeros: set[int], expense: Any) -> None:
        """Raise unless the expense has these amounts of 0 already, from an import."""
        if expense is not None:
            stored = expense.splits.filter(trip=expense.trip_id, entered_minor=0)
            zeros -= {*stored.values_list("participant", flat=True)}
        if zeros:
            wrong = dict.fromkeys(map(str, sorted(zeros)), [_("Must not be 0.")])
            raise serializers.ValidationError(wrong)

    def _items(self, attrs: dict[str, Any], expense: Any, currency: str) -> Items | None:
        rows = attrs.pop("items", None)
        entered = {name: attrs.pop(name) for name in EXTRAS if name in attrs}
        if rows is None and not entered:
            return None
        split_type = attrs.get("split_type", expense and expense.split_type)
        if not self.partial:
            is_complete = rows is not None or split_type != SplitType.ITEMIZED
            _require(self, {"splitType": "split_type" in attrs, "items": is_complete})
        first = next(iter(entered), "items") if rows is None else "items"
        if split_type != SplitType.ITEMIZED:
            text = _("Only an ITEMIZED expense has it.")
            raise serializers.ValidationError({first: [text]})
        if rows is None:
            raise serializers.ValidationError({"items": [_("Send the items, too.")]})
        return items_of(rows, entered, currency)

    def _put_in(self, attrs: dict[str, Any], currency: str) -> dict[int, int | None] | None:
        paid_by = attrs.pop("paid_by_user_id", None)
        payers = attrs.pop("payers", None)
        if payers is None:
            return None if paid_by is None else {paid_by: None}
        paid_by_user: dict[int, int | None] = {
            payer["user_id"]: minor_units(
                f"payers.{at}.amount", payer["amount"], currency, signed=True
            )
            for at, payer in enumerate(payers)
        }
        for at, minor in enumerate(paid_by_user.values()):
            if (minor or 0) * attrs.get("entered_minor", 0) < 0:
                text = _("Must have the sign of the amount.")
                raise serializers.ValidationError({f"payers.{at}.amount": [text]})
        if len(paid_by_user) < len(payers):
            raise serializers.ValidationError({"payers": [_("A payer is listed twice.")]})
        if paid_by not in {None, payers[0]["user_id"]}:
            text = _("Must be the first payer, or be omitted.")
            raise serializers.ValidationError({"paidByUserId": [text]})
        return paid_by_user


class NewExpense(ExpenseRequest):
    """An expense to record."""

    client_id = NewClientId()
