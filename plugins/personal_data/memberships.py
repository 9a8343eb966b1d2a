"""What is stored about the trips of an account, for its export."""

from rest_framework import serializers

from tripcompanion.api.serializers import CamelCaseSerializer
from tripcompanion.currency.fields import CurrencyField, MoneyField
from tripcompanion.plugin import PersonalList
from trips.models import Member
from trips.roles import TripRole


class ExportedMembership(CamelCaseSerializer):
    """A present or former membership of the user, with their balance."""

    trip_id = serializers.IntegerField(help_text="The trip.")
    title = serializers.CharField(source="trip.title", help_text="The title of the trip.")
    destination = serializers.CharField(source="trip.destination", help_text="Where the trip goes.")
    start_date = serializers.DateField(source="trip.start_date", help_text="The first day.")
    end_date = serializers.DateField(source="trip.end_date", help_text="The last day.")
    role = serializers.ChoiceField(choices=TripRole.choices, help_text="The role in the trip.")
    joined_at = serializers.DateTimeField(help_text="When the user joined.")
    left_at = serializers.DateTimeField(
        allow_null=True, help_text="When they left; null if they are a member."
    )
    currency = CurrencyField(source="trip.currency", help_text="The currency of the amounts.")
    paid = MoneyField(help_text="What they paid for expenses.")
    share = MoneyField(help_text="Their part of all expenses.")
    sent = MoneyField(help_text="What they handed to others.")
    received = MoneyField(help_text="What others handed to them.")
    balance = MoneyField(help_text="`paid` - `share` + `sent` - `received`.")


LISTS = (
    PersonalList(
        "memberships",
        ExportedMembership,
        "Their trips, present and former.",
        lambda user: Member.objects.filter(user=user).select_related("trip"),
    ),
)
