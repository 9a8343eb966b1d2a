"""How an expense is divided: the entered values and the resulting part of each participant."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from splits.models.items import SCALE, Items
from splits.money import NO_PLACES, Places, divide
from tripcompanion.currency.amounts import to_major
from trips.models import Trip

PERCENTAGE_WHOLE = 100 * SCALE


class SplitType(models.TextChoices):
    """How an expense is divided."""

    EQUAL = "EQUAL", gettext_lazy("equally")
    MANUAL = "MANUAL", gettext_lazy("by exact amounts")
    PERCENTAGE = "PERCENTAGE", gettext_lazy("by percentages")
    SHARES = "SHARES", gettext_lazy("by weights")
    ITEMIZED = "ITEMIZED", gettext_lazy("by items")
    ADJUSTMENT = "ADJUSTMENT", gettext_lazy("equally, with more or less for some")


class Part(NamedTuple):
    """One person's part in the trip's currency, and the value entered for it.

    That value is an amount in minor units of the expense's currency, or ten-thousandths.
    """

    amount_minor: int
    entered_minor: int | None = None
    percentage_e4: int | None = None
    weight_e4: int | None = None


#: Those that this release knows. `SplitType.values` would collect them at each call.
SPLIT_TYPES = frozenset(SplitType.values)
#: The column of a `Part` that stores the entered value, by split type.
ENTERED_COLUMN: Mapping[str, str] = {
    SplitType.MANUAL: "entered_minor",
    SplitType.PERCENTAGE: "percentage_e4",
    SplitType.SHARES: "weight_e4",
    SplitType.ADJUSTMENT: "entered_minor",
}
#: The split types whose entered values are amounts.
OF_AMOUNTS = frozenset({SplitType.MANUAL, SplitType.ADJUSTMENT})


class Payment(NamedTuple):
    """What one person paid: in the trip's currency, and as entered in the expense's."""

    amount_minor: int
    entered_minor: int


class Money(NamedTuple):
    """The amount of an expense: in the trip's currency, and as entered in its own."""

    amount_minor: int
    entered_minor: int
    currency: str

    @property
    def sign(self) -> int:
        return -1 if self.entered_minor < 0 else 1


@dataclass(frozen=True)
class Division:
    """How an expense is divided, and among whom.

    `entered` is by user id: minor units of the expense's currency for MANUAL and ADJUSTMENT,
    ten-thousandths for PERCENTAGE and SHARES, None for EQUAL and ITEMIZED, which has `items`.
    """

    split_type: str
    participants: tuple[int, ...]
    entered: Mapping[int, int] | None = None
    items: Items | None = None

    def payments_and_parts(
        self, money: Money, entered: Mapping[int, int], seed: int, places: Places, payers_field: str
    ) -> tuple[dict[int, Payment], dict[int, Part]]:
        """The payment and the part of each person.

        Both add up to `money`. Raises `ValidationError` on `payers_field` if the payments do not
        add up, and what `parts` raises.
        """
        require_sum(payers_field, entered.values(), money.entered_minor, money.currency)
        if any(minor * money.sign <= 0 for minor in entered.values()):
            raise ValidationError({payers_field: [_("Must have the sign of the amount.")]})
        if money.sign < 0 and len(entered) > 1:
            raise ValidationError({payers_field: [_("Only one person can receive a refund.")]})
        paid = divide(money.amount_minor, entered, seed, places)
        payments = {user_id: Payment(paid[user_id], entered[user_id]) for user_id in entered}
        return payments, self.parts(money, seed, places)

    def parts(self, money: Money, seed: int, places: Places = NO_PLACES) -> dict[int, Part]:
        """Each person's part in the trip's currency; they add up to `money.amount_minor`.

        Raises `ValidationError` on `splitAmounts` or `items` if the entered values do not fit.
        """
        if not self.participants:
            text = _("There is nobody to divide the expense among.")
            raise ValidationError({"participantUserIds": [text]})
        shares = divide(money.amount_minor, self._weights(money), seed, places)
        column = ENTERED_COLUMN.get(self.split_type)
        if column is None:
            return {user_id: Part(share) for user_id, share in shares.items()}
        entered: Mapping[int, Any] = self.entered or {}
        return {u: Part(share, **{column: entered.get(u)}) for u, share in shares.items()}

    def _weights(self, money: Money) -> Mapping[int, int]:
        """What the parts are in proportion to. Raises what `parts` raises."""
        if self.split_type == SplitType.EQUAL:
            return dict.fromkeys(self.participants, 1)
        if self.split_type == SplitType.ITEMIZED:
            return self._weights_of_items(money)
        if self.split_type == SplitType.ADJUSTMENT:
            return self._adjusted(money)
        entered = self._entered_for_all()
        if self.split_type == SplitType.MANUAL:
            wrong = [u for u, minor in entered.items() if minor * money.sign < 0]
            if wrong:
                text = _("Must have the sign of the amount.")
                raise ValidationError({f"splitAmounts.{user_id}": [text] for user_id in wrong})
            require_sum("splitAmounts", entered.values(), money.entered_minor, money.currency)
        if self.split_type == SplitType.PERCENTAGE and sum(entered.values()) != PERCENTAGE_WHOLE:
            percent = Decimal(sum(entered.values())) / SCALE
            text = _("The percentages add up to %(sum)s, not to 100.") % {"sum": percent}
            raise ValidationError({"splitAmounts": [text]})
        return entered

    def _weights_of_items(self, money: Money) -> Mapping[int, int]:
        if self.items is None:
            raise ValidationError({"items": [_("Send the items by which it is divided.")]})
        if negative := self.items.negative(money.sign):
            text = _("Must not be negative, except in a refund.")
            if money.sign < 0:
                text = _("Must have the sign of the amount.")
            raise ValidationError(dict.fromkeys(negative, [text]))
        require_sum("items", [self.items.total_minor], money.entered_minor, money.currency)
        if set(self.participants) != set(self.items.people):
            text = _("Must be those who share the items, or be omitted.")
            raise ValidationError({"participantUserIds": [text]})
        weights = self.items.weights()
        if not any(weights.values()):
            raise ValidationError({"items": [_("At least one item must have a price.")]})
        return weights

    def _adjusted(self, money: Money) -> Mapping[int, int]:
        """What everybody bears, in minor units divided by the number of participants."""
        self._require_participants()
        entered, count = self.entered or {}, len(self.participants)
        rest = money.entered_minor - sum(entered.values())
        parts = {user_id: rest + count * entered.get(user_id, 0) for user_id in self.participants}
        negative = [str(user_id) for user_id, part in parts.items() if part * money.sign < 0]
        if negative:
            text = _("Less than nothing would be left for: %(ids)s.")
            raise ValidationError({"splitAmounts": [text % {"ids": ", ".join(negative)}]})
        return parts

    def _entered_for_all(self) -> dict[int, int]:
        entered = self.entered or {}
        missing = [str(user_id) for user_id in self.participants if user_id not in entered]
        if missing:
            text = _("Missing values for: %(ids)s.") % {"ids": ", ".join(missing)}
            raise ValidationError({"splitAmounts": [text]})
        self._require_participants()
        return {user_id: entered[user_id] for user_id in self.participants}

    def _require_participants(self) -> None:
        """Raise `ValidationError` if a value was entered for somebody who is no participant."""
        entered = self.entered or {}
        extra = [str(user_id) for user_id in entered if user_id not in self.participants]
        if extra:
            text = _("Not a participant: %(ids)s.") % {"ids": ", ".join(extra)}
            raise ValidationError({"splitAmounts": [text]})


def default_division(trip: Trip) -> dict[str, Any]:
    """The fields of a `Division` as the trip's default has them, without those who have left.

    Raises `ValidationError` on `splitType` if nobody remains, or if percentages are missing.
    """
    shown = trip.default_division or {}
    named, amounts = shown["participantUserIds"], shown["splitAmounts"]
    everybody = sorted(trip.present_roles) if named is None else named
    present = tuple(user_id for user_id in everybody if user_id in trip.present_roles)
    split_type = shown["splitType"]
    if not present or (split_type == SplitType.PERCENTAGE and len(present) < len(everybody)):
        text = _("Somebody in the trip's default division has left; send another division.")
        raise ValidationError({"splitType": [text]})
    division = {"split_type": split_type, "participants": present}
    if amounts is None:
        return division
    return division | {"entered": {pk: int(amounts[str(pk)] * SCALE) for pk in present}}


def require_sum(field: str, amounts: Iterable[int], amount_minor: int, currency: str) -> None:
    """Raise `ValidationError` on `field`, naming the difference, unless `amounts` add up."""
    difference = amount_minor - sum(amounts)
    if difference:
        text = _("The amounts add up to %(sum)s, not to %(amount)s: the difference is %(diff)s.")
        values = {
            "sum": to_major(amount_minor - difference, currency),
            "amount": to_major(amount_minor, currency),
            "diff": to_major(difference, currency),
        }
        raise ValidationError({field: [text % values]})


def entered_for(split_type: str, parts: Mapping[int, Part]) -> dict[int, int] | None:
    """The values entered for stored `parts`, as a `Division` takes them, without missing ones."""
    column = ENTERED_COLUMN.get(split_type)
    if column is None:
        return None
    values = {user_id: getattr(part, column) for user_id, part in parts.items()}
    return {user_id: value for user_id, value in values.items() if value is not None}


def percentage_of(amount_minor: int, percentage_e4: int, left_minor: int) -> int:
    """The percentage in minor units, rounded half up, but at most what earlier parts left over."""
    exact, half = amount_minor * percentage_e4, PERCENTAGE_WHOLE // 2
    rounded = (exact + half) // PERCENTAGE_WHOLE
    only_rounding = exact <= left_minor * PERCENTAGE_WHOLE + half
    return min(rounded, left_minor) if only_rounding else rounded
