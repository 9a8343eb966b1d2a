"""Serializer fields for currencies and amounts."""

from decimal import Decimal
from functools import reduce
from typing import Any

from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field

from tripcompanion.api.serializers import ExactNumber, PlainField, StrictChoice
from tripcompanion.currency.amounts import CODES, MAX_AMOUNT, as_number


class CurrencyField(StrictChoice):
    """An ISO 4217 code in capitals, such as `EUR`."""

    default_error_messages = {
        "invalid_choice": gettext_lazy(
            '"{input}" is not the code of a currency; /api/currencies lists them all.'
        )
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=CODES, **kwargs)


class AmountField(ExactNumber):
    """An entered amount: a positive `Decimal` in major units, at most 10^12.

    The number of decimals depends on the currency, of the body or of the trip; see `minor_units`.
    With `signed`, it may be zero, or negative down to -10^12.
    """

    def __init__(self, *, signed: bool = False, **kwargs: Any) -> None:
        if signed:
            kwargs["least"] = -MAX_AMOUNT
        super().__init__(maximum=MAX_AMOUNT, **kwargs)


class RateField(ExactNumber):
    """An exchange rate up to 10^6, of at most 15 digits: both databases store them exactly.

    Rates between two currencies, computed from those of the European Central Bank, have so many.
    """

    _DIGITS = 15

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(maximum=Decimal(10**6), **kwargs)

    def to_internal_value(self, data: Any) -> Decimal:
        rate = super().to_internal_value(data)
        most = min(self._DIGITS, self._DIGITS - 1 - rate.adjusted())
        if -int(rate.normalize().as_tuple().exponent) > most:
            self.fail("too_precise", max_decimals=most)
        return rate


@extend_schema_field({"type": "number"})
class MoneyField(PlainField):
    """An amount in responses: the integer `<name>_minor` of the row as an exact JSON number.

    `currency` is the dotted path from the row to its currency code, that of its trip by default;
    `tripcompanion.compiled` reads it as `second_source`, and calls `combine`.
    """

    def __init__(self, *, currency: str = "trip.currency", **kwargs: Any) -> None:
        super().__init__(read_only=True, **kwargs)
        self.second_source = currency

    def bind(self, field_name: str, parent: Any) -> None:
        self.source = self.source or field_name
        if not self.source.endswith("_minor"):
            self.source += "_minor"
        super().bind(field_name, parent)

    combine = staticmethod(as_number)

    def get_attribute(self, instance: Any) -> Any:
        value = super().get_attribute(instance)
        if value is None:
            return None
        return self.combine(value, reduce(getattr, self.second_source.split("."), instance))
