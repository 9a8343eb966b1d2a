"""App configuration."""

from collections.abc import Mapping
from datetime import datetime

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Outdated, Plugin, Searched, TripObject, plugins
from trips.roles import TABLE


class TripsConfig(Plugin):
    name = "trips"
    verbose_name = gettext_lazy("Trips")
    scopes = {
        "trips:read": gettext_lazy("See your trips and their members"),
        "trips:write": gettext_lazy("Create, change and delete trips, and invite members"),
    }

    def ready(self) -> None:
        super().ready()
        for app in plugins():
            TABLE.update(app.rights())

    def objects(self) -> Mapping[str, TripObject]:
        from trips import serializers
        from trips.models import Member, trips_with_members

        members = Member.objects.with_details
        return {
            "trip": TripObject(
                "trips",
                trips_with_members,
                serializers.TripDetailSerializer,
                trip="pk",
                searched=Searched(("title", "destination", "description"), "title"),
            ),
            "member": TripObject(
                "trips",
                members,
                serializers.TripMemberSerializer,
                key="user_id",
                searched=Searched(("user__name",), "user__name", "joined_at"),
            ),
        }

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from trips.models import JournalEntry, Trip

        yield "deleted trips", [Trip.objects.outdated().order_by("deleted_at")]
        yield "journal entries of deleted trips", [JournalEntry.objects.outdated(month_ago)]
