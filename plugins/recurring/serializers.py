"""Serializers of recurring expenses."""

from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django.utils import timezone
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from plugins.recurring.body import RecurringExpense
from plugins.recurring.rules import MAX_OVERDUE, MAX_RULE_CHARS, parse_rule
from splits.serializers.expense_response import ExpensePreviewSerializer
from tripcompanion.api.serializers import CamelCaseSerializer, StrictDate, StrictText, names_of
from tripcompanion.api.unknown_names import refused_names

#: How far the start may lie in the future.
_LATEST = timedelta(days=3660)
#: Each call reads several hundred files.
_time_zones = cache(available_timezones)


@extend_schema_field(RecurringExpense)
class ExpenseBody(serializers.Field):
    """The body of an expense; it is checked when its trip is locked."""

    default_error_messages = {"invalid": gettext_lazy("Must be an object.")}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            self.fail("invalid")
        errors = refused_names(data, names_of(RecurringExpense))
        if errors and not self.context.get("is_lenient"):
            raise serializers.ValidationError(errors)
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field(RecurringExpense(partial=True))
class ExpenseChange(ExpenseBody):
    """The fields of the body of an expense that are to change; at least one."""

    default_error_messages = {"empty": serializers.DictField.default_error_messages["empty"]}

    def to_internal_value(self, data: Any) -> Any:
        if data == {}:
            self.fail("empty")
        return super().to_internal_value(data)


class RuleField(StrictText):
    """A rule of RFC 5545 as it is stored; see `parse_rule`."""

    def to_internal_value(self, data: Any) -> str:
        try:
            return parse_rule(super().to_internal_value(data))
        except ValueError as error:
            raise serializers.ValidationError([str(error)]) from error


class TimeZoneField(StrictText):
    """The name of an IANA time zone."""

    default_error_messages = {"unknown": gettext_lazy("There is no such time zone.")}

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if name not in _time_zones():
            self.fail("unknown")
        return name


class FirstDayField(StrictDate):
    """The day from which a rule counts, not too far in the future."""

    default_error_messages = {
        "range": gettext_lazy("Must be within the last 366 days or the next 10 years.")
    }

    def to_internal_value(self, value: Any) -> date:
        day = super().to_internal_value(value)
        if day > timezone.now().date() + _LATEST:
            self.fail("range")
        return day


class RecurrenceRequest(CamelCaseSerializer):
    """An expense, and the dates on which it is recorded."""

    rule = RuleField(
        max_length=MAX_RULE_CHARS,
        help_text=(
            "An RFC 5545 rule, such as `FREQ=MONTHLY;BYMONTHDAY=-1` for the last day of every "
            "month, with `FREQ` (`DAILY` to `YEARLY`), `INTERVAL`, `COUNT` or `UNTIL`, `BYDAY`, "
            "`BYMONTH`, `BYMONTHDAY`, `BYSETPOS` and `WKST`. As the RFC has it, a month without "
            "the day is left out. Dates are searched for 30 years."
        ),
    )
    time_zone = TimeZoneField(
        max_length=64,
        default="UTC",
        help_text="The IANA time zone in which the days begin, such as `Europe/Lisbon`.",
    )
    starts_on = FirstDayField(
        help_text=(
            "The day from which the rule counts, at most 366 days ago. Dates that have passed are "
            "recorded at once."
        )
    )
    expense = ExpenseBody(help_text="The body of `createExpense` without `expenseDate`.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        earliest = timezone.now().date() - MAX_OVERDUE
        first = attrs.get("starts_on", earliest)
        # In a change, `starts_on` of the context is the stored one, which may be sent back.
        if first < earliest and first != self.context.get("starts_on"):
            text = FirstDayField.default_error_messages["range"]
            raise serializers.ValidationError({"startsOn": [text]})
        return attrs


class RecurrenceChange(RecurrenceRequest):
    """What to change."""

    rule = RuleField(max_length=MAX_RULE_CHARS, help_text="Another rule.")
    starts_on = FirstDayField(help_text="Another first day.")
    expense = ExpenseChange(help_text="The fields of the expense to change.")


class SkipRequest(CamelCaseSerializer):
    """A date that is left out."""

    date = StrictDate(help_text="One of the `next` dates.")


class PauseReason(CamelCaseSerializer):
    """Why the service could not record an expense."""

    code = serializers.CharField(
        source="reason_code", help_text="The code of the problem, such as `no_rate`."
    )
    text = serializers.CharField(
        source="reason_text", help_text="The problem, in the language of who records it."
    )


class RecurrencePreview(CamelCaseSerializer):
    """What a recurrence would be."""

    rule = serializers.CharField(help_text="The rule.")
    time_zone = serializers.CharField(help_text="The time zone in which its days begin.")
    starts_on = serializers.DateField(help_text="The day from which the rule counts.")
    next = serializers.ListField(
        child=serializers.DateField(), help_text="The next dates, at most ten."
    )
    expense = serializers.DictField(help_text="The body that is recorded on each of them.")
    preview = ExpensePreviewSerializer(help_text="How the first one would be divided.")


class RecurrenceSerializer(CamelCaseSerializer):
    """An expense that is recorded on each date of a rule."""

    id = serializers.IntegerField(help_text="The id of the recurrence.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    rule = serializers.CharField(help_text="The rule.")
    time_zone = serializers.CharField(help_text="The time zone in which its days begin.")
    starts_on = serializers.DateField(help_text="The day from which the rule counts.")
    next = serializers.ListField(
        child=serializers.DateField(), help_text="The next dates, at most ten."
    )
    state = serializers.CharField(
        source="shown_state", help_text="`on`, `paused`, or `ended` if there is no next date."
    )
    reason = PauseReason(
        allow_null=True, help_text="Why the service paused it; null unless it did."
    )
    expense = serializers.DictField(help_text="The body that is recorded.")
    left_out = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="The participants who had left the trip when it was last recorded.",
    )
    created_by_id = serializers.IntegerField(help_text="The account that records it.")
    created_at = serializers.DateTimeField(help_text="When it was created.")
