"""Serializers of statistics."""

from datetime import MAXYEAR
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from plugins.fields import BoundedNumber
from plugins.statistics.report import KINDS
from tripcompanion.api.serializers import CamelCaseSerializer, StrictChoice, StrictDate
from tripcompanion.currency.fields import CurrencyField, MoneyField
from users.serializers.account import UserSummary

#: What changes a balance.
ENTRY_KINDS = ["EXPENSE", "SETTLEMENT"]


@extend_schema_field(
    {"type": "string", "enum": list(KINDS), "description": "What the groups are."},
    component_name="StatisticsGroupingEnum",
)
class Grouping(StrictChoice):
    """What the groups are."""


class SumField(MoneyField):
    """An amount in the `currency` of the row itself."""

    def __init__(self, **options: Any) -> None:
        super().__init__(currency="currency", **options)


class StatisticsQuery(CamelCaseSerializer):
    """Which groups to make, and of which expenses."""

    by = Grouping(
        choices=KINDS, default=KINDS[0], help_text="What the groups are. Default: `category`."
    )
    as_of = StrictDate(
        required=False,
        help_text="The last day of the expenses that count. Default: all, also those dated ahead.",
    )


class SumSerializer(CamelCaseSerializer):
    """The expenses of a group."""

    key = serializers.CharField(
        help_text=(
            "The code of the category or currency, the id of the user, the day "
            "(`2026-05-14`) or the month (`2026-05`)."
        )
    )
    label = serializers.CharField(  # type: ignore[assignment]
        help_text="Its name, in the language of `Accept-Language`."
    )
    paid = SumField(help_text="What was paid for these expenses; by a member, if it is one.")
    share = SumField(help_text="The caller's part of it; of a member, their own part.")
    count = serializers.IntegerField(help_text="How many expenses `paid` is the sum of.")


class GroupSerializer(SumSerializer):
    """A group of the expenses of a trip."""

    planned = SumField(
        allow_null=True,
        help_text=(
            "Of a category: its budget. Of a day: the part of the trip's budget for the days up to "
            "it, each of which has the same. Otherwise, and without a budget, null."
        ),
    )
    cumulative = SumField(
        allow_null=True,
        help_text="Of a day or month: what was spent up to its end. Otherwise null.",
    )


class BudgetSerializer(CamelCaseSerializer):
    """The budget of a trip, and what has been spent of it; in the trip's currency."""

    planned = SumField(help_text="The budget.")
    spent = SumField(help_text="The `total`.")
    left = SumField(help_text="What is left of it; negative if more was spent.")
    forecast = SumField(
        allow_null=True,
        help_text=(
            "What the trip will cost by its end if the other days cost as much as those up to "
            "`asOf`, by default today, and at least what was entered. Null before the trip starts."
        ),
    )


class StatisticsSerializer(CamelCaseSerializer):
    """What the expenses of a trip add up to."""

    currency = CurrencyField(help_text="The trip's currency, of all amounts.")
    total = SumField(help_text="The sum of all expenses.")
    budget = BudgetSerializer(allow_null=True, help_text="Null if the trip has no budget.")
    groups = GroupSerializer(
        many=True,
        help_text=(
            "Days and months in order; members in the order in which they joined; others by what "
            "was spent, the largest first."
        ),
    )


class YearQuery(CamelCaseSerializer):
    """Which expenses count."""

    year = BoundedNumber(
        maximum=MAXYEAR, required=False, help_text="Only expenses of this year. Default: all."
    )


class CurrencySumsSerializer(CamelCaseSerializer):
    """The caller's expenses in trips of one currency."""

    currency = CurrencyField(help_text="The currency of the trips.")
    paid = SumField(source="all.paid", help_text="What the caller paid for expenses.")
    share = SumField(source="all.share", help_text="The caller's own part of all expenses.")
    count = serializers.IntegerField(
        source="all.count", help_text="How many expenses the caller paid, alone or with others."
    )
    trips = SumSerializer(many=True, help_text="By trip, in the order of their ids.")
    categories = SumSerializer(many=True, help_text="By category.")
    months = SumSerializer(many=True, help_text="By month, in order.")


class PersonalStatisticsSerializer(CamelCaseSerializer):
    """What the caller's trips have cost the caller."""

    year = serializers.IntegerField(allow_null=True, help_text="The year; null means all.")
    currencies = CurrencySumsSerializer(many=True, help_text="By currency of the trips.")


class CurrencyBetweenSerializer(CamelCaseSerializer):
    """What is open between two people in trips of one currency."""

    currency = CurrencyField(help_text="The currency of the trips.")
    you_owe = SumField(help_text="What the caller owes the other.")
    owes_you = SumField(help_text="What the other owes the caller.")
    net = SumField(help_text="`owesYou` less `youOwe`.")


class TripBetweenSerializer(CamelCaseSerializer):
    """What is between two people in one trip."""

    trip_id = serializers.IntegerField(help_text="The id of the trip.")
    title = serializers.CharField(help_text="Its title.")
    currency = CurrencyField(help_text="Its currency.")
    you_owe = SumField(help_text="What the caller owes the other.")
    owes_you = SumField(help_text="What the other owes the caller.")
    you_sent = SumField(help_text="What the caller handed to the other in settlements.")
    sent_you = SumField(help_text="What the other handed to the caller.")


class BetweenSerializer(CamelCaseSerializer):
    """What is between the caller and somebody who shares trips with them."""

    user = UserSummary(help_text="The other.")
    currencies = CurrencyBetweenSerializer(many=True, help_text="By currency.")
    trips = TripBetweenSerializer(many=True, help_text="By trip, in the order of their ids.")


class BalanceLineSerializer(CamelCaseSerializer):
    """One entry of a balance, with the balance after it."""

    kind = serializers.ChoiceField(choices=ENTRY_KINDS, help_text="What the entry is.")
    id = serializers.IntegerField(help_text="The id of the expense or settlement.")
    date = serializers.DateField(source="day", help_text="The day of the expense or settlement.")
    description = serializers.CharField(
        help_text="The description of the expense, or the note of the settlement."
    )
    recorded_at = serializers.DateTimeField(help_text="When it was recorded.")
    paid = SumField(help_text="What the member paid for it, in the trip's currency.")
    share = SumField(help_text="Their part of it, in the trip's currency.")
    sent = SumField(help_text="What they handed over, in the trip's currency.")
    received = SumField(help_text="What they received, in the trip's currency.")
    change = SumField(help_text="`paid` - `share` + `sent` - `received`.")
    balance = SumField(help_text="Their balance after this entry, in the trip's currency.")
