"""Shapes on the wire: camelCase names outside, snake_case names inside, strict primitive fields."""

import re
from collections.abc import Mapping
from copy import copy
from datetime import date, datetime
from decimal import Decimal
from functools import reduce
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    extend_schema_field,
    extend_schema_serializer,
)
from rest_framework import serializers

from tripcompanion.kit.currencies import CODES, MAX_AMOUNT, to_major, to_minor
from tripcompanion.kit.paths import MAX_ID

MAX_URL_CHARS = 2048


def camel_case(name: str) -> str:
    """`paid_by_user_id` as `paidByUserId`; a trailing underscore (`from_`) is dropped."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(word.capitalize() for word in rest)


def example(value: Any, name: str = "Example") -> Any:
    """Class decorator: the example that the OpenAPI document shows for a shape."""
    return extend_schema_serializer(examples=[OpenApiExample(name, value=value)])


class Shape(serializers.Serializer):
    """Base of every serializer: declared in snake_case, spoken in camelCase.

    A field without `source` reads and fills the snake_case name, so views, models and
    `validated_data` never see the wire's spelling. Unknown keys are ignored, and so is `null` in a
    field that is neither required nor nullable: many clients write what they do not set so.
    """

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and None in data.values():
            data = {
                name: value
                for name, value in data.items()
                if value is not None or not self._may_lack(name)
            }
        return super().to_internal_value(data)

    def _may_lack(self, name: str) -> bool:
        """Whether `name` is a field that may be left out and cannot be null."""
        field = self.fields.get(name)
        return field is not None and not field.required and not field.allow_null

    def get_fields(self) -> dict[str, serializers.Field]:
        fields: dict[str, serializers.Field] = {}
        for name, field in super().get_fields().items():
            wire_name = camel_case(name)
            if field.source is None and wire_name != name:
                field.source = name
            fields[wire_name] = field
        return fields


class StrictText(serializers.CharField):
    """Text that came as a JSON string: numbers are not quietly turned into text. Trimmed."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictDate(serializers.DateField):
    """`YYYY-MM-DD` in ASCII digits."""

    def to_internal_value(self, value: Any) -> date:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            self.fail("invalid", format="YYYY-MM-DD")
        return super().to_internal_value(value)


class StrictInstant(serializers.DateTimeField):
    """An instant of ISO 8601 in ASCII digits, with `Z` or an offset; UTC inside."""

    default_error_messages = {"form": _("Must be an instant such as 2026-05-14T18:30:00Z.")}
    _FORM = re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
        r"(Z|[+-][0-9]{2}:[0-9]{2})"
    )

    def to_internal_value(self, value: Any) -> datetime:
        if not isinstance(value, str) or not self._FORM.fullmatch(value):
            self.fail("form")
        return super().to_internal_value(value)


class StrictChoice(serializers.ChoiceField):
    """One of the given words, as a JSON string."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid_choice", input=data)
        return super().to_internal_value(data)


class CurrencyField(StrictChoice):
    """An ISO 4217 code in capitals, such as `EUR`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=CODES, **kwargs)

    def __deepcopy__(self, memo: Any) -> "CurrencyField":
        # DRF constructs every declared field anew for every body; this one has 170 choices.
        return copy(self)


@extend_schema_field(
    {
        "oneOf": [
            {"type": "integer", "format": "int64", "minimum": 1, "maximum": MAX_ID},
            {"type": "string", "pattern": "^[1-9][0-9]{0,17}$"},
        ]
    }
)
class IdField(serializers.Field):
    """A 64-bit identifier: a JSON integer or a string of ASCII digits; no fraction, no boolean."""

    default_error_messages = {"invalid": _("Must be an identifier: a whole number from 1.")}

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, str) and re.fullmatch(r"[0-9]{1,19}", data):
            data = int(data)
        if not isinstance(data, int) or isinstance(data, bool) or not 0 < data <= MAX_ID:
            self.fail("invalid")
        return data

    def to_representation(self, value: int) -> int:
        return value


class ExactNumber(serializers.Field):
    """A finite decimal number as a JSON number or a plain string; `Decimal` inside.

    `minimum` is exclusive, `maximum` inclusive; more decimals than `max_decimals` are refused.
    Strings are ASCII digits with an optional fraction and exponent: no blanks, no underscores,
    no other scripts' digits.
    """

    default_error_messages = {
        "invalid": _("A valid number is required."),
        "too_small": _("Must be greater than {minimum}."),
        "too_large": _("Must be at most {maximum}."),
        "too_precise": _("Must have at most {max_decimals} decimals."),
    }
    _PLAIN = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?")

    def __init__(
        self,
        *,
        maximum: Decimal,
        minimum: Decimal = Decimal(0),
        max_decimals: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.minimum, self.maximum, self.max_decimals = minimum, maximum, max_decimals

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, str) and self._PLAIN.fullmatch(data):
            data = Decimal(data)
        if isinstance(data, bool) or not isinstance(data, int | Decimal):
            self.fail("invalid")
        number = Decimal(data)
        if not number.is_finite():
            self.fail("invalid")
        if number <= self.minimum:
            self.fail("too_small", minimum=self.minimum)
        if number > self.maximum:
            self.fail("too_large", maximum=format(self.maximum, "f"))
        exponent = number.normalize().as_tuple().exponent
        if self.max_decimals is not None and -int(exponent) > self.max_decimals:
            self.fail("too_precise", max_decimals=self.max_decimals)
        return number

    def to_representation(self, value: Decimal) -> Decimal:
        return value


class AmountField(ExactNumber):
    """An amount that somebody enters: `Decimal` in major units, positive, at most 10^12.

    How many decimals count depends on the currency, which the body or the trip knows; see
    `minor_units`.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(maximum=MAX_AMOUNT, **kwargs)


def minor_units(path: str, amount: Decimal, currency: str) -> int:
    """Minor units of an entered `amount`, rounded half up.

    Raises `ValidationError` on the field at `path` if it rounds to nothing.
    """
    amount_minor = to_minor(amount, currency)
    if amount_minor <= 0:
        raise serializers.ValidationError({path: [_("Must be greater than 0.")]})
    return amount_minor


@extend_schema_field({"type": "number"})
class MoneyField(serializers.Field):
    """An amount in answers: the integer `<name>_minor` of the row as an exact JSON number.

    `currency` is the dotted path from the row to its currency code.
    """

    def __init__(self, *, currency: str = "currency", **kwargs: Any) -> None:
        super().__init__(read_only=True, **kwargs)
        self.currency_path = currency

    def bind(self, field_name: str, parent: Any) -> None:
        self.source = self.source or field_name
        if not self.source.endswith("_minor"):
            self.source += "_minor"
        super().bind(field_name, parent)

    def get_attribute(self, instance: Any) -> Decimal | None:
        amount_minor = super().get_attribute(instance)
        if amount_minor is None:
            return None
        currency = reduce(getattr, self.currency_path.split("."), instance)
        return to_major(amount_minor, currency)

    def to_representation(self, value: Decimal) -> Decimal:
        return value


@extend_schema_field(OpenApiTypes.STR)
class UrlOrPath(StrictText):
    """An http(s) URL or a relative path, at most 2,048 characters; no other scheme."""

    default_error_messages = {"scheme": _("Must be an http(s) URL or a relative path.")}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_URL_CHARS, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            parts = urlsplit(text)
        except ValueError:
            self.fail("scheme")
        # Browsers drop tabs and line breaks inside a scheme ("java\tscript:"), and so must we.
        if any(letter.isspace() or ord(letter) < 0x20 for letter in text):
            self.fail("scheme")
        if parts.scheme.lower() in {"http", "https"}:
            if not parts.netloc:
                self.fail("scheme")
        elif parts.scheme or parts.netloc or text.startswith(("//", "\\")):
            self.fail("scheme")
        return text


@example({"status": "ok"})
class HealthSerializer(Shape):
    """The answer of a probe that went well."""

    status = serializers.CharField()
