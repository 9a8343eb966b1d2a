"""How an expense is divided: what was entered for each participant, and the parts it makes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from splits import money
from tripcompanion.kit.currencies import to_major

#: Percentages and weights are kept as whole numbers of ten-thousandths.
SCALE = 10**4
PERCENTAGE_WHOLE = 100 * SCALE


class SplitType(models.TextChoices):
    """How an expense is divided."""

    EQUAL = "EQUAL", gettext_lazy("equally")
    MANUAL = "MANUAL", gettext_lazy("by exact amounts")
    PERCENTAGE = "PERCENTAGE", gettext_lazy("by percentages")
    SHARES = "SHARES", gettext_lazy("by weights")


class Part(NamedTuple):
    """One person's part: minor units, and what was entered for it, in ten-thousandths."""

    amount_minor: int
    percentage_e4: int | None = None
    weight_e4: int | None = None


@dataclass(frozen=True)
class Division:
    """How an expense is to be divided among whom.

    `entered` is by user id: minor units for MANUAL, ten-thousandths for PERCENTAGE and SHARES,
    None for EQUAL.
    """

    split_type: str
    participants: tuple[int, ...]
    entered: Mapping[int, int] | None

    def parts(self, amount_minor: int, currency: str, seed: int) -> dict[int, Part]:
        """Everybody's part; together they are `amount_minor`.

        Raises `ValidationError` on `splitAmounts` if what was entered does not fit.
        """
        if self.split_type == SplitType.EQUAL:
            equal = dict.fromkeys(self.participants, 1)
            shares = money.divide(amount_minor, equal, seed)
            return {user_id: Part(share) for user_id, share in shares.items()}
        entered = self._entered_for_all()
        if self.split_type == SplitType.MANUAL:
            require_sum("splitAmounts", entered.values(), amount_minor, currency)
            return {user_id: Part(share) for user_id, share in entered.items()}
        if self.split_type == SplitType.PERCENTAGE and sum(entered.values()) != PERCENTAGE_WHOLE:
            percent = Decimal(sum(entered.values())) / SCALE
            text = _("The percentages add up to %(sum)s, not to 100.") % {"sum": percent}
            raise ValidationError({"splitAmounts": [text]})
        shares = money.divide(amount_minor, entered, seed)
        as_percentage = self.split_type == SplitType.PERCENTAGE
        return {
            user_id: Part(share, entered[user_id], None)
            if as_percentage
            else Part(share, None, entered[user_id])
            for user_id, share in shares.items()
        }

    def _entered_for_all(self) -> dict[int, int]:
        entered = self.entered or {}
        missing = [str(user_id) for user_id in self.participants if user_id not in entered]
        extra = [str(user_id) for user_id in entered if user_id not in self.participants]
        if missing or extra:
            text = (
                _("Nothing is given for: %(ids)s.") % {"ids": ", ".join(missing)}
                if missing
                else _("Not a participant: %(ids)s.") % {"ids": ", ".join(extra)}
            )
            raise ValidationError({"splitAmounts": [text]})
        return {user_id: entered[user_id] for user_id in self.participants}


def require_sum(field: str, amounts: Iterable[int], amount_minor: int, currency: str) -> None:
    """Raise `ValidationError` on `field`, with the difference, unless `amounts` add up."""
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
    """What was entered for stored `parts`, as a `Division` takes it; gaps where nothing was."""
    position = {
        SplitType.MANUAL: "amount_minor",
        SplitType.PERCENTAGE: "percentage_e4",
        SplitType.SHARES: "weight_e4",
    }.get(SplitType(split_type))
    if position is None:
        return None
    values = {user_id: getattr(part, position) for user_id, part in parts.items()}
    return {user_id: value for user_id, value in values.items() if value is not None}
