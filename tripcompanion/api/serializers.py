"""Base serializers: camelCase in JSON, snake_case in Python, strict primitive fields."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from itertools import groupby
from typing import Any, ClassVar
from unicodedata import combining
from urllib.parse import urlsplit
from uuid import UUID

from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from tripcompanion.api.unknown_names import refused_names

MAX_URL_CHARS = 2048
MAX_PEOPLE = 1000
MAX_MARKS = 30


def camel_case(name: str) -> str:
    """`paid_by_user_id` as `paidByUserId`; a trailing underscore (`from_`) is dropped."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(word.capitalize() for word in rest)


def example(value: Any, name: str = "Example") -> Any:
    """Class decorator: the serializer's example in the OpenAPI document."""
    return extend_schema_serializer(examples=[OpenApiExample(name, value=value)])


def describe(field: Any, schema: dict[str, Any]) -> None:
    """Set the schema of a field in the OpenAPI document; a decorator of classes does it."""
    extend_schema_field(schema)(field)


class CamelCaseSerializer(serializers.Serializer):
    """Base of every serializer: declared in snake_case, camelCase in JSON.

    A field without `source` uses the snake_case name, so views, models and `validated_data` never
    see camelCase. Unknown names are refused; see `unknown_names.py`. The context may have
    `is_lenient`, to ignore them, and `answered`, a function that returns what the response has. A
    `null` in a field that is neither required nor nullable is ignored, because many clients send
    `null` for fields that they do not set.
    """

    #: Whether the specification says that unknown names are ignored.
    is_flexible: ClassVar[bool] = False
    #: The names of two fields of which exactly one is sent; `require_one` checks it.
    exactly_one: ClassVar[tuple[str, str] | None] = None

    default_error_messages = {"invalid": gettext_lazy("Must be an object.")}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and not data.keys() <= self.fields.keys():
            self._require_known(data)
        if isinstance(data, Mapping) and None in data.values():
            data = {
                name: value
                for name, value in data.items()
                if value is not None or not self._may_lack(name)
            }
        return super().to_internal_value(data)

    def _require_known(self, data: Mapping[str, Any]) -> None:
        """Raise `ValidationError` for unknown names."""
        if self.is_flexible or self.context.get("is_lenient"):
            return
        if errors := refused_names(data, self.fields, self._answered()):
            raise serializers.ValidationError(errors)

    def require_one(self, attrs: Mapping[str, Any]) -> None:
        """Raise `ValidationError` unless one of `exactly_one` is in the validated values."""
        first, second = self.exactly_one or ("", "")
        if (self.fields[first].source in attrs) == (self.fields[second].source in attrs):
            text = _("Send either %(first)s or %(second)s.") % {"first": first, "second": second}
            raise serializers.ValidationError({first: [text]})

    def _answered(self) -> list[Mapping[str, Any]]:
        """What the response has in the place of this object; of a list, all rows."""
        answered, path = self.context.get("answered"), list[str]()
        field: Any = self
        while field.parent is not None:
            path.append(field.field_name)
            field = field.parent
        found = [answered()] if answered else []
        # The item of a list has no name.
        for name in filter(None, reversed(path)):
            inner = (place.get(name) for place in found)
            rows = (one if isinstance(one, list) else [one] for one in inner)
            found = [row for some in rows for row in some if isinstance(row, Mapping)]
        return found

    def _may_lack(self, name: str) -> bool:
        """Whether `name` is a field that may be omitted and cannot be null."""
        field = self.fields.get(name)
        return field is not None and not field.required and not field.allow_null

    def get_initial(self) -> dict[str, Any]:
        """An empty body, for the browsable API: optional fields are null, which is as if absent."""
        return {
            name: field.get_initial() if field.required else None
            for name, field in self.fields.items()
        }

    def get_fields(self) -> dict[str, serializers.Field]:
        declared = _declared(type(self), get_language())
        return {name: _copied(field) for name, field in declared.items()}


@cache
def _declared(
    serializer_class: type[CamelCaseSerializer], _language: str | None
) -> dict[str, serializers.Field]:
    """The declared fields by their names in JSON, for one language.

    Their copies share validators, and DRF formats the message of a validator only once.
    """
    fields: dict[str, serializers.Field] = {}
    for name, field in serializers.Serializer.get_fields(serializer_class()).items():
        wire_name = camel_case(name)
        if field.source is None and wire_name != name:
            field.source = name
        fields[wire_name] = field
    return fields


@cache
def names_of(serializer_class: type[serializers.Serializer]) -> tuple[str, ...]:
    """The names of the fields."""
    return tuple(serializer_class().fields)


def _copied(field: Any) -> Any:
    """A copy of a declared field, which a serializer can bind to itself.

    DRF makes a deep copy, which runs the constructor of each field: 0.15 ms for the body of an
    expense, instead of 0.04.
    """
    twin = object.__new__(type(field))
    twin.__dict__ = field.__dict__.copy()
    if hasattr(field, "child"):
        twin.child = _copied(field.child)
        twin.child.parent = twin
    return twin


class PlainField(serializers.Field):
    """A field whose value is in responses as it is."""

    def to_representation(self, value: Any) -> Any:
        return value


def has_many_marks(text: str) -> bool:
    """Whether a letter has over `MAX_MARKS`; a search sorts them in the square of their number."""
    runs = groupby(() if text.isascii() else map(combining, text), bool)
    return any(is_marks and len([*run]) > MAX_MARKS for is_marks, run in runs)


class StrictText(serializers.CharField):
    """A JSON string, trimmed; numbers are not converted to strings."""

    default_error_messages = {"marks": gettext_lazy("A letter has more than 30 accents.")}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if has_many_marks(data):
            self.fail("marks")
        return super().to_internal_value(data)


class StrictUuid(serializers.UUIDField):
    """A UUID as text with hyphens, in letters of any case; `UUID` in Python."""

    def to_internal_value(self, data: Any) -> UUID:
        found: UUID = super().to_internal_value(data)
        if not isinstance(data, str) or str(found) != data.lower():
            self.fail("invalid", value=data)
        return found


class NewClientId(StrictUuid):
    """The `clientId` in the body of a POST."""

    def __init__(self) -> None:
        text = "A UUID from the client. The same body with it again creates nothing, and is 200."
        super().__init__(required=False, allow_null=True, help_text=text)


def client_id_in(body: Any) -> UUID | None:
    """The `clientId` in a body that nobody has validated; None if there is no valid one."""
    if not isinstance(body, Mapping) or body.get("clientId") is None:
        return None
    try:
        found: UUID = StrictUuid().run_validation(body["clientId"])
    except serializers.ValidationError:
        return None
    return found


class ShownClientId(serializers.UUIDField):
    """The `clientId` in responses."""

    def __init__(self) -> None:
        text = "The UUID from the client, in small letters; null without one."
        super().__init__(allow_null=True, help_text=text)


class StrictBoolean(serializers.BooleanField):
    """JSON `true` or `false`; no number and no string is converted to one."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class StrictList(serializers.ListField):
    """A JSON array. One that is too long is refused before its items are read."""

    default_error_messages = {"not_a_list": gettext_lazy("Must be a list.")}

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and len(data) > (self.max_length or len(data)):
            self.fail("max_length", max_length=self.max_length)
        found: list[Any] = super().to_internal_value(data)
        return found


_NO_SUCH_DAY = gettext_lazy("There is no such day in the calendar: {value}.")


class StrictDate(serializers.DateField):
    """`YYYY-MM-DD` in ASCII digits."""

    default_error_messages = {
        "invalid": gettext_lazy("Must be a date such as 2026-05-14: YYYY-MM-DD."),
        "no_such_day": _NO_SUCH_DAY,
    }

    def to_internal_value(self, value: Any) -> date:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            self.fail("invalid")
        try:
            return date.fromisoformat(value)
        except ValueError:
            self.fail("no_such_day", value=value)


class StrictInstant(serializers.DateTimeField):
    """An ISO 8601 date and time in ASCII digits, with `Z` or an offset; converted to UTC."""

    default_error_messages = {
        "form": gettext_lazy("Must be a date and time such as 2026-05-14T18:30:00Z."),
        "invalid": gettext_lazy("There is no such day or time."),
    }
    _FORM = re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
        r"(Z|[+-][0-9]{2}:[0-5][0-9])"
    )

    def to_internal_value(self, value: Any) -> datetime:
        if not isinstance(value, str) or not self._FORM.fullmatch(value):
            self.fail("form")
        return super().to_internal_value(value)


class StrictChoice(serializers.ChoiceField):
    """One of the choices, as a JSON string."""

    default_error_messages = {
        "invalid_choice": gettext_lazy('"{input}" is not a valid choice. Choose one of: {choices}.')
    }

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", input=data, choices=", ".join(self.choices))
        return super().to_internal_value(data)


#: The largest integer that both databases store.
MAX_INTEGER = 2**63 - 1
MAX_ID = MAX_INTEGER


def _pattern_up_to(maximum: int) -> str:
    """A regular expression that matches the whole numbers from 1 to `maximum`.

    JSON Schema has no other way to bound a number in a string. The branches are: fewer digits,
    then for each position the same digits before it and a smaller one there, then `maximum`.
    """
    digits = str(maximum)
    branches = [f"[1-9][0-9]{{0,{len(digits) - 2}}}"]
    for place, digit in enumerate(digits):
        lowest, rest = (0 if place else 1), len(digits) - place - 1
        if int(digit) > lowest:
            smaller = f"{digits[:place]}[{lowest}-{int(digit) - 1}]"
            branches.append(f"{smaller}[0-9]{{{rest}}}" if rest else smaller)
    return "|".join([*branches, digits])


#: The pattern of an identifier in a string: ASCII digits without a leading 0.
ID_PATTERN = _pattern_up_to(MAX_ID)
_ID_TEXT = re.compile(ID_PATTERN)

#: The same rule in the OpenAPI document, for a JSON number and for a string.
NUMBER_SCHEMA = {"type": "integer", "format": "int64", "minimum": 1, "maximum": MAX_ID}
TEXT_SCHEMA = {"type": "string", "pattern": f"^({ID_PATTERN})$"}


def parse_id(value: Any) -> int:
    """Parse an identifier from a string or a number. Raises `ValueError`."""
    if isinstance(value, str) and _ID_TEXT.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_ID:
        return value
    raise ValueError("Not an identifier.")


@extend_schema_field({"oneOf": [NUMBER_SCHEMA, TEXT_SCHEMA]}, component_name="Id")
class IdField(PlainField):
    """An identifier: a JSON integer or a string of its digits; no fraction, no boolean."""

    default_error_messages = {
        "invalid": gettext_lazy("Must be an identifier: a whole number from 1.")
    }

    def to_internal_value(self, data: Any) -> int:
        try:
            return parse_id(data)
        except ValueError:
            self.fail("invalid")


#: How people write numbers in much of the world, also with separators between thousands.
_WITH_COMMA = re.compile(r"-?[0-9][0-9.,' ]{0,40}")


class ExactNumber(PlainField):
    """A finite decimal number as a JSON number or a plain string; `Decimal` in Python.

    It is at least `least`, or without it greater than 0, and at most `maximum`; more decimals than
    `max_decimals` are rejected, and so is 0 unless it `may_be_zero`.
    Strings are ASCII digits with an optional fraction and exponent: no spaces, no underscores,
    no digits of other scripts.
    """

    default_error_messages = {
        "invalid": gettext_lazy("A valid number is required."),
        "comma": gettext_lazy(
            "A number has a point before its decimals, and no other separators: 10.50."
        ),
        "too_small": gettext_lazy("Must be greater than 0."),
        "zero": gettext_lazy("Must not be 0."),
        "too_low": gettext_lazy("Must be at least {least}."),
        "too_large": gettext_lazy("Must be at most {maximum}."),
        "too_precise": gettext_lazy("Must have at most {max_decimals} decimals."),
    }
    _PLAIN = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?")

    def __init__(
        self,
        *,
        maximum: Decimal,
        least: Decimal | None = None,
        max_decimals: int | None = None,
        may_be_zero: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.least, self.maximum, self.max_decimals = least, maximum, max_decimals
        self.may_be_zero = may_be_zero
        describe(self, number_schema(least=least, maximum=maximum, may_be_zero=may_be_zero))

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, str) and self._PLAIN.fullmatch(data):
            data = Decimal(data)
        if isinstance(data, bool) or not isinstance(data, int | Decimal):
            has_comma = isinstance(data, str) and _WITH_COMMA.fullmatch(data)
            self.fail("comma" if has_comma else "invalid")
        number = Decimal(data)
        if not number.is_finite():
            self.fail("invalid")
        if self.least is not None and number < self.least:
            self.fail("too_low", least=format(self.least, "f"))
        if self.least is None and number <= 0:
            self.fail("too_small")
        if not (number or self.may_be_zero):
            self.fail("zero")
        if number > self.maximum:
            self.fail("too_large", maximum=format(self.maximum, "f"))
        exponent = number.normalize().as_tuple().exponent
        if self.max_decimals is not None and -int(exponent) > self.max_decimals:
            self.fail("too_precise", max_decimals=self.max_decimals)
        return number


#: Patterns of plain numbers: any, and those that are not 0.
_ANY_NUMBER = r"[0-9]{1,12}(\.[0-9]{1,40})?"
_NO_ZERO = r"(0*[1-9][0-9]{0,11}(\.[0-9]{1,40})?|0{1,12}\.0{0,39}[1-9][0-9]{0,39})"


def number_schema(
    *, maximum: Decimal | int, least: Decimal | int | None = None, may_be_zero: bool = True
) -> dict[str, Any]:
    """The schema of a number with its limits, which may also be sent as a string."""
    limits: dict[str, Any] = {"exclusiveMinimum": 0} if least is None else {"minimum": int(least)}
    if least is not None and not may_be_zero:
        limits["not"] = {"const": 0}
    sign = "" if least is None or least >= 0 else "-?"
    plain = _ANY_NUMBER if least is not None and may_be_zero else _NO_ZERO
    text = {"type": "string", "pattern": f"^{sign}{plain}$"}
    return {"oneOf": [{"type": "number", **limits, "maximum": int(maximum)}, text]}


class NumbersById(PlainField):
    """`{"<userId>": number}`, at most 1,000; what the numbers are is validated by `numbers_of`."""

    default_error_messages = {
        "not_object": gettext_lazy("Must be an object of numbers by user id."),
        "user_id": gettext_lazy("Not a user id: {text}."),
    }

    def to_internal_value(self, data: Any) -> dict[Any, Any]:
        if not isinstance(data, Mapping) or len(data) > MAX_PEOPLE:
            self.fail("not_object")
        numbers = {}
        for key, value in data.items():
            try:
                numbers[parse_id(key)] = value
            except ValueError:
                self.fail("user_id", text=key[:40])
        return numbers


def numbers_of(raw: Mapping[int, Any], field: ExactNumber) -> dict[int, Decimal]:
    """The values by user id, each validated by `field`; the errors are by user id, too."""
    numbers, errors = {}, {}
    for user_id, value in raw.items():
        try:
            numbers[user_id] = field.run_validation(value)
        except serializers.ValidationError as error:
            errors[str(user_id)] = error.detail
    if errors:
        raise serializers.ValidationError(errors)
    return numbers


def numbers_schema(**limits: Any) -> dict[str, Any]:
    """The schema of `NumbersById`; the limits are those of `number_schema`."""
    return {
        "type": "object",
        "propertyNames": TEXT_SCHEMA,
        "additionalProperties": number_schema(**limits),
    }


class FixedText(serializers.CharField):
    """A text that is the same in every response."""

    def __init__(self, text: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        describe(self, {"type": "string", "const": text})


@extend_schema_field(OpenApiTypes.STR)
class UrlOrPath(StrictText):
    """An http(s) URL or a relative path, at most 2,048 characters; no other scheme."""

    default_error_messages = {"scheme": gettext_lazy("Must be an http(s) URL or a relative path.")}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_URL_CHARS, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            parts = urlsplit(text)
        except ValueError:
            self.fail("scheme")
        # Browsers ignore tabs and line breaks inside a scheme ("java\tscript:"), so remove them.
        if any(letter.isspace() or ord(letter) < 0x20 for letter in text):
            self.fail("scheme")
        if parts.scheme.lower() in {"http", "https"}:
            if not parts.netloc:
                self.fail("scheme")
        elif parts.scheme or parts.netloc or text.startswith(("//", "\\")):
            self.fail("scheme")
        return text


@example({"status": "ok"})
class HealthSerializer(CamelCaseSerializer):
    """The response of a successful probe."""

    status = FixedText("ok", help_text="Other answers are errors.")


@example({"status": "ok"})
class ReadinessSerializer(HealthSerializer):
    """The response of a readiness probe."""

    degraded = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="What is away, without which the service still works: `redis`.",
    )


class QueryBoolean(serializers.BooleanField):
    """`true` or `false` in a query."""

    def to_internal_value(self, data: Any) -> bool:
        if data not in {"true", "false"}:
            self.fail("invalid")
        return data == "true"


class DeletedQuery(CamelCaseSerializer):
    """Whether to list what was deleted."""

    deleted = QueryBoolean(
        default=False,
        help_text="With `true`, what can be restored, last deleted first. Default: `false`.",
    )


class ClientIdQuery(CamelCaseSerializer):
    """Whether to list only what a client created with a certain id."""

    client_id = StrictUuid(required=False, help_text="Only what was created with this `clientId`.")


class CreatedQuery(DeletedQuery, ClientIdQuery):
    """Which of the objects that clients create to list."""
