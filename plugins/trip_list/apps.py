"""App configuration."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.backends.signals import connection_created

from plugins.words import add_functions
from tripcompanion.plugin import PersonalList, Plugin, TripField, TripFilter


class TripListConfig(Plugin):
    name = "plugins.trip_list"

    def ready(self) -> None:
        super().ready()
        connection_created.connect(add_functions)

    def trip_filters(self) -> Mapping[str, TripFilter]:
        from plugins.trip_list.filters import FILTERS

        return FILTERS

    def trip_fields(self) -> Mapping[str, TripField]:
        from rest_framework.serializers import BooleanField

        from plugins.trip_list.models import is_archived_by

        text = "Of the plugin `trip_list`: whether the caller has archived the trip."
        return {"archived": TripField(BooleanField(help_text=text), is_archived_by)}

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.trip_list.models import ArchivedTrip
        from plugins.trip_list.serializers import ExportedArchivedTrip

        yield PersonalList(
            "archived_trips",
            ExportedArchivedTrip,
            "The trips that they archived.",
            lambda user: ArchivedTrip.objects.filter(user=user).order_by("id"),
        )

    def forget(self, account: Any, by: Any) -> None:
        from plugins.trip_list.models import ArchivedTrip

        ArchivedTrip.objects.filter(user=account).delete()

    def revoked(self, trip_id: int, user_id: int, *, is_deleted: bool) -> Iterable[Any]:
        from plugins.trip_list.models import end_with_membership

        end_with_membership(trip_id, user_id)
        return ()
