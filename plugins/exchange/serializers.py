"""Serializers of imports."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from plugins.exchange.models import MAX_SHOWN_ROWS, STATES, EntryKind, Outcome
from plugins.exchange.notes import text_of
from plugins.fields import QueryId
from tripcompanion.api.parsing import MalformedJSON, read_object
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    IdField,
    StrictBoolean,
    StrictChoice,
    StrictText,
)
from tripcompanion.currency.amounts import CODES, ENDED
from tripcompanion.currency.fields import CurrencyField, RateField

_MAX_PEOPLE = 1000
_TRIP_HELP = gettext_lazy(
    "The trip to add to. Default: the one that an older file of the same group was imported into, "
    "otherwise a new one."
)


#: What the form calls its fields, for the translations.
LABELS = (
    *(_("As new trip"), _("Currency"), _("Destination"), _("Exchange rates"), _("File")),
    *(_("Group"), _("Mapping"), _("Time zone"), _("Title"), _("Trip id")),
)


class ExchangeRatesField(serializers.DictField):
    """`{"<currency>": number}`; the numbers are texts in Python, as they are stored.

    The list of rates that a plan answered chooses nothing.
    """

    def to_internal_value(self, data: Any) -> dict[str, str]:
        answered = self.context.get("answered")
        if answered and isinstance(data, list) and data == answered()[self.field_name]:
            raise serializers.SkipField
        known = StrictChoice(
            choices=(*CODES, *ENDED), error_messages=CurrencyField.default_error_messages
        )
        found = super().to_internal_value(data)
        return {known.run_validation(code): str(rate) for code, rate in found.items()}


class _Choices(CamelCaseSerializer):
    """What the caller chooses; a file says most of it."""

    trip_id = IdField(required=False, help_text=_TRIP_HELP)
    title = StrictText(
        max_length=100,
        required=False,
        help_text=gettext_lazy("Of a new trip. Default: the file's name for it."),
    )
    destination = StrictText(
        max_length=100, required=False, help_text=gettext_lazy("Of a new trip. Default: its title.")
    )
    currency = CurrencyField(
        required=False,
        help_text=gettext_lazy(
            "Of a new trip, and of a file that does not say its own. Default: the one that "
            "the file uses most."
        ),
    )
    time_zone = StrictText(
        max_length=64,
        required=False,
        help_text=gettext_lazy(
            "Where dates are read, such as `Europe/Madrid`, if the file has instants. "
            "Default: `UTC`."
        ),
    )
    group = StrictText(
        max_length=200,
        required=False,
        help_text=gettext_lazy("The id or the name of the group, if the file has several."),
    )


class ImportOptions(_Choices):
    """What the caller chooses, in JSON."""

    as_new_trip = StrictBoolean(
        required=False, help_text="Whether to make a new trip in any case. Default: false."
    )
    mapping = serializers.DictField(
        child=IdField(allow_null=True),
        allow_empty=False,
        required=False,
        help_text="User ids by names in the file; null is a guest. Default: in a file of the trip "
        "itself its members, whoever an older file led to, the caller, or by an address in the "
        "file an account that shares a trip with the caller; otherwise a guest. Everybody is added "
        "as by hand: without a trip in common, each counts as a look-up.",
    )
    exchange_rates = ExchangeRatesField(
        child=RateField(),
        allow_empty=False,
        required=False,
        help_text="What one unit of a currency is worth in the trip's, where the file has no "
        "rate. Default: the latest stored rates.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs.get("mapping", ())) > _MAX_PEOPLE:
            raise serializers.ValidationError({"mapping": [_("There are too many.")]})
        if attrs.get("as_new_trip") and "trip_id" in attrs:
            raise serializers.ValidationError({"tripId": [_("Omit it for a new trip.")]})
        try:
            ZoneInfo(attrs.get("time_zone", "UTC"))
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            text = _("This time zone is not known.")
            raise serializers.ValidationError({"timeZone": [text]}) from error
        return attrs


class ImportTexts(_Choices):
    """What the caller chooses in a query or a form, which have texts only."""

    trip_id = QueryId(required=False, help_text=_TRIP_HELP)
    as_new_trip = StrictChoice(
        choices=["true", "false"],
        required=False,
        help_text=gettext_lazy("Whether to make a new trip."),
    )
    mapping = StrictText(
        required=False,
        help_text=gettext_lazy("A JSON object: user ids by names in the file; null is a guest."),
    )
    exchange_rates = StrictText(
        required=False,
        help_text=gettext_lazy("A JSON object: the worth of currencies in the trip's."),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        read = dict(self.initial_data)
        if "as_new_trip" in attrs:
            read["asNewTrip"] = attrs["as_new_trip"] == "true"
        for name in ("mapping", "exchangeRates"):
            if name in read:
                try:
                    read[name] = read_object(read[name].encode("utf-8", "surrogateescape"))
                except MalformedJSON as error:
                    raise serializers.ValidationError({name: [str(error.detail)]}) from error
                if not read[name]:
                    del read[name]
        options = ImportOptions(data=read, context=self.context)
        options.is_valid(raise_exception=True)
        return options.validated_data


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Example",
            value={"file": "alps.csv", "title": "Alps", "mapping": '{"Ana": 7, "Ben": null}'},
            media_type="multipart/form-data",
        )
    ]
)
class ImportForm(ImportTexts):
    """A form with the file, and with what the caller chooses."""

    file = serializers.FileField(help_text=gettext_lazy("The file, at most 10 MiB."))


@extend_schema_field({"type": "number"})
class NumberField(serializers.Field):
    """A decimal number, which is stored as text."""

    def to_representation(self, value: str) -> Decimal:
        return Decimal(value)


@extend_schema_field({"type": "array", "items": {"type": "string"}})
class NotesField(serializers.Field):
    """Notes, which are stored as codes and values."""

    def to_representation(self, value: list[list[Any]]) -> list[str]:
        return [text_of(code, values) for code, values in value]


@extend_schema_field({"type": ["string", "null"]})
class WhyField(serializers.Field):
    """Notes as one text; null for none."""

    def to_representation(self, value: list[list[Any]]) -> str | None:
        return " ".join(text_of(code, values) for code, values in value) or None


class ImportedTrip(CamelCaseSerializer):
    """The trip that gets the entries."""

    title = serializers.CharField(help_text="Its title.")
    destination = serializers.CharField(help_text="Its destination.")
    start_date = serializers.DateField(help_text="The first day.")
    end_date = serializers.DateField(help_text="The last day.")
    currency = CurrencyField(help_text="Its currency.")


class ImportedPerson(CamelCaseSerializer):
    """Somebody in the file."""

    name = serializers.CharField(source="original", help_text="The name in the file.")
    email = serializers.CharField(allow_null=True, help_text="The address in the file.")
    user_id = serializers.IntegerField(
        allow_null=True, help_text="The account or the guest; null is a new guest."
    )
    guest = serializers.BooleanField(help_text="Whether they are a guest, or become one.")
    key = serializers.CharField(help_text="How the file refers to them; `mapping` takes it, too.")
    is_member = serializers.BooleanField(help_text="Whether they are a member already.")


class ImportedBalance(CamelCaseSerializer):
    """What somebody is owed, or owes with a minus, by the file's own claim and by its rows."""

    name = serializers.CharField(help_text="The name in the file.")
    claimed = serializers.DictField(
        child=NumberField(),
        allow_null=True,
        help_text="As the file says it, by currency; null if it does not.",
    )
    ours = serializers.DictField(
        child=NumberField(),
        help_text="By its rows, by currency. Where the file has only weights, odd cents may be "
        "recorded for somebody else.",
    )
    why = WhyField(help_text="Why they differ; null if they do not.")


class ImportedRate(CamelCaseSerializer):
    """A rate that the file lacks."""

    currency = CurrencyField(help_text="One unit of it is worth `rate`.")
    rate = NumberField(help_text="In the trip's currency.")
    rate_source = serializers.CharField(help_text="`ECB`, or `ENTERED` by the caller.")
    rate_date = serializers.DateField(help_text="The day of the rate.")


@extend_schema_field({"type": "object", "additionalProperties": True})
class BodyField(serializers.Field):
    """The body of a request."""

    def to_representation(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        return value


#: What `ImportedRow.shown_kind` may be.
ROW_KINDS = [*EntryKind.values, "other"]


class ImportedRowSerializer(CamelCaseSerializer):
    """A row of the file, with what becomes of it."""

    line = serializers.IntegerField(help_text="Its line, or in JSON its position in the list.")
    kind = serializers.ChoiceField(
        choices=ROW_KINDS,
        source="shown_kind",
        help_text="What it is recorded as; `other` is nothing.",
    )
    outcome = serializers.ChoiceField(
        choices=Outcome.values,
        help_text="What becomes of it: `taken`, `noted` (taken, but see its notes), `skipped`, "
        "`known` (imported before), `differs` (imported before and changed there since; it stays).",
    )
    notes = NotesField(source="note_list", help_text="Why, and what is worth knowing.")
    object = BodyField(
        source="body",
        allow_null=True,
        help_text="The body that it becomes, of `createExpense` or `createSettlement`; null if it "
        "is not taken. Somebody who has no user id yet has their name there. Odd cents are "
        "recorded as the file has them.",
    )
    description = serializers.CharField(help_text="What it was.")
    object_id = serializers.IntegerField(
        allow_null=True, help_text="The id of the expense or the settlement, once it is confirmed."
    )


class ImportSummary(CamelCaseSerializer):
    """An import without the rows of the file, as the personal export has it."""

    id = serializers.IntegerField(help_text="The id of the import.")
    format = serializers.CharField(help_text="The format that was recognised.")
    state = serializers.ChoiceField(choices=STATES, help_text="Only a plan can be changed.")
    trip_id = serializers.IntegerField(
        allow_null=True, help_text="The trip; null while a new one is planned."
    )
    makes_trip = serializers.BooleanField(help_text="Whether it makes a new trip.")
    trip = ImportedTrip(source="plan", help_text="The trip that gets the entries.")
    created_at = serializers.DateTimeField(help_text="When it was planned first.")
    expires_at = serializers.DateTimeField(help_text="Until when the plan can be confirmed.")
    people = ImportedPerson(
        source="plan.people", many=True, help_text="Who the people of the file are."
    )
    row_count = serializers.IntegerField(
        source="plan.row_count", help_text="How many rows the file has."
    )
    counts = serializers.DictField(
        source="plan.counts",
        child=serializers.IntegerField(),
        help_text="Rows of the file by what becomes of them, and new entries by kind.",
    )
    balances = ImportedBalance(
        source="plan.balances", many=True, help_text="Of all people of the file."
    )
    exchange_rates = ImportedRate(
        source="plan.exchange_rates", many=True, help_text="Rates that the file lacks."
    )
    notes = NotesField(source="plan.notes", help_text="What is worth knowing of the file.")


class ImportSerializer(ImportSummary):
    """The plan of an import, or what has become of it."""

    rows = ImportedRowSerializer(
        source="first_rows",
        many=True,
        help_text=f"The first {MAX_SHOWN_ROWS} rows of the file; `listImportedRows` has all.",
    )


class RowsQuery(CamelCaseSerializer):
    """Which rows to list."""

    outcome = StrictChoice(
        choices=Outcome.values, required=False, help_text="Only rows with this outcome."
    )
