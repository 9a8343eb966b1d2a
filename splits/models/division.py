"""How an expense is divided: the entered values and the resulting part of each participant."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from splits.money import NO_FORMER_IDS, divide
from tripcompanion.currency.amounts import to_major

#: Percentages and weights are stored as whole ten-thousandths.
SCALE = 10**4
#: The largest weight.
MAX_WEIGHT = 10**6
PERCENTAGE_WHOLE = 100 * SCALE


class SplitType(models.TextChoices):
    """How an expense is divided."""

    EQUAL = "EQUAL", gettext_lazy("equally")
    MANUAL = "MANUAL", gettext_lazy("by exact amounts")
    PERCENTAGE = "PERCENTAGE", gettext_lazy("by percentages")
    SHARES = "SHARES", gettext_lazy("by weights")


class Part(NamedTuple):
    """One person's part in the trip's currency, and the value entered for it.

    That value is an amount in minor units of the expense's currency, or ten-thousandths.
    """

    amount_minor: int
    entered_minor: int | None = None
    percentage_e4: int | None = None
    weight_e4: int | None = None


#: The column of a `Part` that stores the entered value, by split type.
ENTERED_COLUMN = {
    SplitType.MANUAL: "entered_minor",
    SplitType.PERCENTAGE: "percentage_e4",
    SplitType.SHARES: "weight_e4",
}


class Payment(NamedTuple):
    """What one person paid: in the trip's currency, and as entered in the expense's."""

    amount_minor: int
    entered_minor: int


class Money(NamedTuple):
    """The amount of an expense: in the trip's currency, and as entered in its own."""

    amount_minor: int
    entered_minor: int
    currency: str


@dataclass(frozen=True)
class Division:
    """How an expense is divided, and among whom.

    `entered` is by user id: minor units of the expense's currency for MANUAL, ten-thousandths
    for PERCENTAGE and SHARES, None for EQUAL.
    """

    split_type: str
    participants: tuple[int, ...]
    entered: Mapping[int, int] | None

    def payments_and_parts(
        self,
        money: Money,
        entered: Mapping[int, int],
        seed: int,
        former_ids: Mapping[int, int],
        payers_field: str,
    ) -> tuple[dict[int, Payment], dict[int, Part]]:
        """The payment and the part of each person.

        Both add up to `money`. Raises `ValidationError` on `payers_field` if the payments do not
        add up, and what `parts` raises.
        """
        require_sum(payers_field, entered.values(), money.entered_minor, money.currency)
        paid = divide(money.amount_minor, entered, seed, former_ids)
        payments = {user_id: Payment(paid[user_id], entered[user_id]) for user_id in entered}
        return payments, self.parts(money, seed, former_ids)

    def parts(
        self, money: Money, seed: int, former_ids: Mapping[int, int] = NO_FORMER_IDS
    ) -> dict[int, Part]:
        """Each person's part in the trip's currency; they add up to `money.amount_minor`.

        Raises `ValidationError` on `splitAmounts` if the entered values do not fit.
        """
        if not self.participants:
            text = _("There is nobody to divide the expense among.")
            raise ValidationError({"participantUserIds": [text]})
        if self.split_type == SplitType.EQUAL:
            equal = dict.fromkeys(self.participants, 1)
            shares = divide(money.amount_minor, equal, seed, former_ids)
            return {user_id: Part(share) for user_id, share in shares.items()}
        entered = self._entered_for_all()
        if self.split_type == SplitType.MANUAL:
            require_sum("splitAmounts", entered.values(), money.entered_minor, money.currency)
        if self.split_type == SplitType.PERCENTAGE and sum(entered.values()) != PERCENTAGE_WHOLE:
            percent = Decimal(sum(entered.values())) / SCALE
            text = _("The percentages add up to %(sum)s, not to 100.") % {"sum": percent}
            raise ValidationError({"splitAmounts": [text]})
        column = ENTERED_COLUMN[SplitType(self.split_type)]
        shares = divide(money.amount_minor, entered, seed, former_ids)
        return {
            user_id: Part(share)._replace(**{column: entered[user_id]})
            for user_id, share in shares.items()
        }

    def _entered_for_all(self) -> dict[int, int]:
        entered = self.entered or {}
        missing = [str(user_id) for user_id in self.participants if user_id not in entered]
        extra = [str(user_id) for user_id in entered if user_id not in self.participants]
        if missing or extra:
            text = (
                _("Missing values for: %(ids)s.") % {"ids": ", ".join(missing)}
                if missing
                else _("Not a participant: %(ids)s.") % {"ids": ", ".join(extra)}
            )
            raise ValidationError({"splitAmounts": [text]})
        return {user_id: entered[user_id] for user_id in self.participants}


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
    column = ENTERED_COLUMN.get(SplitType(split_type))
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


def amounts(rows: Mapping[int, Part] | Mapping[int, Payment]) -> dict[int, int]:
    """The amounts by user, in minor units of the trip's currency."""
    return {user_id: row.amount_minor for user_id, row in rows.items()}
