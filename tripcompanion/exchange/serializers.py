"""Serializers of imports."""

import io
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.translation import gettext as _
from drf_spectacular.utils import (
    OpenApiExample,
    extend_schema_field,
    extend_schema_serializer,
)
from rest_framework import serializers

from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    ExactNumber,
    IdField,
    StrictBoolean,
    StrictChoice,
    StrictText,
)
from tripcompanion.currency.fields import CurrencyField
from tripcompanion.exchange.models import Outcome
from tripcompanion.exchange.notes import text_of
from tripcompanion.exchange.parsing import SentFile

#: The largest file, in bytes.
MAX_FILE_BYTES = 10 * 1024 * 1024
_MAX_PEOPLE = 1000


class ExchangeRatesField(serializers.DictField):
    """`{"<currency>": number}`."""

    def to_internal_value(self, data: Any) -> dict[str, Decimal]:
        found = super().to_internal_value(data)
        known = CurrencyField()
        return {known.run_validation(code): rate for code, rate in found.items()}


class ImportOptions(CamelCaseSerializer):
    """What the caller chooses; a file says most of it."""

    trip_id = IdField(
        required=False,
        help_text="The trip to add to. Default: the one that an older file of the same group "
        "was imported into, otherwise a new one.",
    )
    as_new_trip = StrictBoolean(
        default=False, help_text="Whether to make a new trip in any case. Default: false."
    )
    title = StrictText(
        max_length=100, required=False, help_text="Of a new trip. Default: the file's name for it."
    )
    destination = StrictText(
        max_length=100, required=False, help_text="Of a new trip. Default: its title."
    )
    currency = CurrencyField(
        required=False,
        help_text="Of the file, or of a new trip. Default: the one that the file uses most.",
    )
    people = serializers.DictField(
        child=IdField(),
        allow_empty=False,
        required=False,
        help_text="User ids by names in the file: the caller, members of the trip, or people who "
        "share a trip with the caller. Everybody else becomes a guest.",
    )
    exchange_rates = ExchangeRatesField(
        child=ExactNumber(maximum=Decimal(10**6), max_decimals=9),
        allow_empty=False,
        required=False,
        help_text="What one unit of a currency is worth in the trip's, where the file has no "
        "rate. Default: the latest stored rates.",
    )
    time_zone = StrictText(
        max_length=64,
        default="UTC",
        help_text="Where dates are read, such as `Europe/Madrid`, if the file has instants. "
        "Default: `UTC`.",
    )
    group = StrictText(
        max_length=200,
        required=False,
        help_text="The id or the name of the group, if the file has several.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs.get("people", ())) > _MAX_PEOPLE:
            raise serializers.ValidationError({"people": [_("There are too many.")]})
        if attrs["as_new_trip"] and "trip_id" in attrs:
            raise serializers.ValidationError({"tripId": [_("Omit it for a new trip.")]})
        try:
            attrs["zone"] = ZoneInfo(attrs.pop("time_zone"))
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            text = _("This time zone is not known.")
            raise serializers.ValidationError({"timeZone": [text]}) from error
        return attrs


class ImportRequest(ImportOptions):
    """The text of a file, with what the caller chooses."""

    content = StrictText(
        required=False,
        trim_whitespace=False,
        max_length=MAX_FILE_BYTES,
        help_text="The text of the file, at most 10 MiB.",
    )
    file_name = StrictText(
        required=False, max_length=255, help_text="Its name, which some formats need."
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        # A form has a file instead of its content.
        sent = data.get("file") if isinstance(data, dict) else None
        if not isinstance(sent, SentFile):
            found = super().to_internal_value(data)
            if "content" not in found:
                text = self.fields["content"].error_messages["required"]
                raise serializers.ValidationError({"content": [text]})
            found["file"] = io.BytesIO(found.pop("content").encode())
            found["name"] = found.pop("file_name", "")
        else:
            rest = {name: value for name, value in data.items() if name != "file"}
            found = super().to_internal_value(rest)
            found |= {"file": sent.file, "name": sent.name}
            found.pop("content", None), found.pop("file_name", None)
        if found["file"].seek(0, io.SEEK_END) > MAX_FILE_BYTES:
            limit = {"limit": MAX_FILE_BYTES}
            text = _("The file is larger than %(limit)s bytes.") % limit
            raise serializers.ValidationError({"file": [text]})
        return found


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Example",
            value={"file": "alps.csv", "options": {"currency": "EUR"}},
            media_type="multipart/form-data",
        )
    ]
)
class ImportForm(CamelCaseSerializer):
    """A form with the file, and with what the caller chooses as a JSON object."""

    file = serializers.FileField(help_text="The file, at most 10 MiB.")
    options = ImportOptions(required=False, help_text="What the caller chooses, as JSON.")


@extend_schema_field({"type": "number"})
class NumberField(serializers.Field):
    """A decimal number in responses."""

    def to_representation(self, value: Decimal) -> Decimal:
        return value


class NoteSerializer(CamelCaseSerializer):
    """Something worth knowing of the file or of a row."""

    code = serializers.CharField(help_text="For programs.")
    message = serializers.CharField(help_text="For people, in the language of the request.")


@extend_schema_field(NoteSerializer(many=True))
class NotesField(serializers.Field):
    """Notes, which are stored as codes and values."""

    def to_representation(self, value: list[list[Any]]) -> list[dict[str, str]]:
        return [{"code": code, "message": text_of(code, values)} for code, values in value]


class ImportedPerson(CamelCaseSerializer):
    """Somebody in the file."""

    key = serializers.CharField(help_text="How the file refers to them.")
    name = serializers.CharField(help_text="The name that a guest gets.")
    user_id = serializers.IntegerField(
        allow_null=True, help_text="The account or the guest; null is a new guest."
    )
    is_member = serializers.BooleanField(help_text="Whether they are a member already.")


class ImportedBalance(CamelCaseSerializer):
    """What somebody is owed, or owes with a minus, by the rows of the file and by its own claim."""

    name = serializers.CharField(help_text="The name in the file.")
    currency = CurrencyField(help_text="The currency of both.")
    planned = NumberField(help_text="By its rows.")
    claimed = NumberField(
        allow_null=True,
        help_text="As the file says it; null if it does not.",
    )
    explanation = serializers.CharField(
        help_text="Why they differ: `SKIPPED_ROWS`, `ROUNDING`, `NOTED_ROWS` or `OTHER`; empty if "
        "they are equal."
    )
    lines = serializers.ListField(
        child=serializers.IntegerField(), help_text="The rows that explain it, at most 50."
    )


class ImportedRate(CamelCaseSerializer):
    """A rate that the file lacks."""

    currency = CurrencyField(help_text="One unit of it is worth `rate`.")
    rate = NumberField(
        help_text="In the trip's currency.",
    )
    rate_source = serializers.CharField(help_text="`ECB`, or `ENTERED` by the caller.")
    rate_date = serializers.DateField(help_text="The day of the rate.")


class ImportSerializer(CamelCaseSerializer):
    """The plan of an import, or what has become of it."""

    id = serializers.IntegerField(help_text="The id of the import.")
    trip_id = serializers.IntegerField(
        allow_null=True, help_text="The trip; null while a new one is planned."
    )
    makes_trip = serializers.BooleanField(help_text="Whether it makes a new trip.")
    format = serializers.CharField(help_text="The format that was recognised.")
    created_at = serializers.DateTimeField(help_text="When it was planned.")
    confirmed_at = serializers.DateTimeField(allow_null=True, help_text="Null is a plan.")
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="Until when it can be confirmed."
    )
    title = serializers.CharField(source="plan.title", help_text="The title of the trip.")
    destination = serializers.CharField(
        source="plan.destination", help_text="The destination of the trip."
    )
    start_date = serializers.DateField(
        source="plan.start_date", help_text="The first day of the trip."
    )
    end_date = serializers.DateField(source="plan.end_date", help_text="The last day of the trip.")
    currency = CurrencyField(source="plan.currency", help_text="The trip's currency.")
    counts = serializers.DictField(
        source="plan.counts",
        child=serializers.IntegerField(),
        help_text="Rows of the file by what becomes of them, and entries by kind.",
    )
    people = ImportedPerson(
        source="plan.people", many=True, help_text="Who the people of the file are."
    )
    balances = ImportedBalance(
        source="plan.balances", many=True, help_text="By person and currency, without zeros."
    )
    exchange_rates = ImportedRate(
        source="plan.exchange_rates", many=True, help_text="Rates that the file lacks."
    )
    notes = NotesField(source="plan.notes", help_text="What is worth knowing of the file.")


class RowsQuery(CamelCaseSerializer):
    """Which rows to list."""

    outcome = StrictChoice(
        choices=Outcome.values, required=False, help_text="Only rows with this outcome."
    )


class ImportedRowSerializer(CamelCaseSerializer):
    """A row of the file, with what becomes of it."""

    line = serializers.IntegerField(help_text="Its line, or in JSON its position in the list.")
    outcome = serializers.ChoiceField(choices=Outcome.values, help_text="What becomes of it.")
    kind = serializers.CharField(help_text="`expense`, `settlement`, or empty.")
    description = serializers.CharField(source="fields.description", help_text="What it was.")
    date = serializers.DateField(
        source="fields.date", allow_null=True, help_text="Null if it cannot be read."
    )
    amount = NumberField(
        source="fields.amount", allow_null=True, help_text="Null if it cannot be read."
    )
    currency = CurrencyField(
        source="fields.currency", allow_null=True, help_text="The currency of the amount."
    )
    object_id = serializers.IntegerField(
        allow_null=True, help_text="The id of the expense or the settlement, once it is confirmed."
    )
    notes = NotesField(source="note_list", help_text="Why, and what is worth knowing.")
