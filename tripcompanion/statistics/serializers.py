"""Serializers of statistics."""

from rest_framework import serializers

from splits.models import Category
from tripcompanion.api.serializers import CamelCaseSerializer, StrictDate
from tripcompanion.currency.fields import CurrencyField, MoneyField
from users.serializers import UserSummary

_COUNT = "How many expenses."


class StatisticsQuery(CamelCaseSerializer):
    """Which expenses count."""

    as_of = StrictDate(
        required=False, help_text="The last day of the expenses that count. Default: today, in UTC."
    )


class CategorySumSerializer(CamelCaseSerializer):
    """The expenses of a category."""

    category = serializers.ChoiceField(
        source="key", choices=Category.values, help_text="The category."
    )
    amount = MoneyField(help_text="Their sum, in the trip's currency.")
    count = serializers.IntegerField(help_text=_COUNT)


class MemberSumSerializer(CamelCaseSerializer):
    """What a member paid and bears."""

    user = UserSummary(help_text="A member, or a former member with an entry.")
    paid = MoneyField(help_text="What they paid for expenses, in the trip's currency.")
    share = MoneyField(help_text="Their part of all expenses, in the trip's currency.")


class DaySumSerializer(CamelCaseSerializer):
    """The expenses of a day."""

    date = serializers.DateField(source="key", help_text="The day.")
    amount = MoneyField(help_text="Their sum, in the trip's currency.")


class MonthSumSerializer(CamelCaseSerializer):
    """The expenses of a month."""

    month = serializers.CharField(source="key", help_text="The month, such as `2026-05`.")
    amount = MoneyField(help_text="Their sum, in the trip's currency.")


class EnteredCurrencySumSerializer(CamelCaseSerializer):
    """The expenses that were entered in a currency."""

    currency = CurrencyField(source="key", help_text="The currency.")
    amount = MoneyField(
        source="entered", currency="key", help_text="Their sum as entered, in this currency."
    )
    trip_amount = MoneyField(source="amount", help_text="Their sum, in the trip's currency.")
    count = serializers.IntegerField(help_text=_COUNT)


class BudgetSerializer(CamelCaseSerializer):
    """The budget of a trip, and what has been spent of it; in the trip's currency."""

    amount = MoneyField(help_text="The budget.")
    spent = MoneyField(help_text="The `total`.")
    remaining = MoneyField(help_text="What is left; negative if more was spent.")
    planned_by_now = MoneyField(
        help_text="The part of the budget for the days up to `asOf`, each of which has the same."
    )
    forecast = MoneyField(
        allow_null=True,
        help_text=(
            "What the whole trip will cost if the other days cost as much as those up to `asOf`. "
            "Null before the trip starts."
        ),
    )


class StatisticsSerializer(CamelCaseSerializer):
    """What the expenses of a trip add up to."""

    currency = CurrencyField(help_text="The trip's currency.")
    as_of = serializers.DateField(help_text="The last day of the expenses that count.")
    total = MoneyField(help_text="The sum of all expenses, in the trip's currency.")
    count = serializers.IntegerField(help_text=_COUNT)
    by_category = CategorySumSerializer(
        many=True, help_text="The categories with expenses, the largest sum first."
    )
    by_member = MemberSumSerializer(
        many=True, help_text="In the order in which they joined; `paid` and `share` each add up."
    )
    by_day = DaySumSerializer(many=True, help_text="The days with expenses, the first one first.")
    by_month = MonthSumSerializer(many=True, help_text="The months with expenses, likewise.")
    by_entered_currency = EnteredCurrencySumSerializer(
        many=True, help_text="The currencies of expenses as entered, the largest sum first."
    )
    budget = BudgetSerializer(allow_null=True, help_text="Null if the trip has no budget.")
