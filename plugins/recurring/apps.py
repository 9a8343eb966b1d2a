"""App configuration."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import PersonalList, Plugin, TripTable


class RecurringConfig(Plugin):
    name = "plugins.recurring"
    verbose_name = gettext_lazy("Recurring expenses")
    watchers = ("record_recurring",)

    def trip_tables(self) -> Iterable[TripTable]:
        from plugins.recurring.body import stored_text
        from plugins.recurring.models import Occurrence, Recurrence
        from plugins.recurring.serializers import RecurrenceRequest

        yield TripTable(
            "recurring",
            Recurrence,
            # The next dates follow from the others.
            ("left_out", "next", "due_at"),
            request=RecurrenceRequest,
            stored=stored_text,
            finish=Recurrence.resume_imported,
        )
        yield TripTable("occurrences", Occurrence, ("id",), fit=Occurrence.take_new_ids)

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.recurring.models import Recurrence
        from plugins.recurring.serializers import RecurrenceSerializer

        yield PersonalList(
            "recurring",
            RecurrenceSerializer,
            "Their recurring expenses.",
            lambda user: Recurrence.objects.filter(created_by=user).order_by("id"),
        )

    def calendar(self, trips: list[Any], limit: int) -> Iterable[Mapping[str, Any]]:
        from plugins.recurring.models import Recurrence

        rows = Recurrence.objects.filter(trip__in=trips, state="on", due_at__isnull=False)
        return [row.in_calendar for row in rows.order_by("-due_at", "-id")[:limit]]

    def demo(self, trip: Any, people: Mapping[str, Any]) -> None:
        """A recurring expense of everybody, paused so that the demo stays as it is."""
        from plugins.recurring.models import Recurrence

        Recurrence.start(
            trip,
            people["olga"],
            rule="FREQ=YEARLY;COUNT=5",
            time_zone="UTC",
            starts_on=date(2027, 5, 1),
            expense={
                "description": "Storage for the surfboards",
                "category": "OTHER",
                "amount": "36.00",
                "splitType": "EQUAL",
                "participantUserIds": [person.pk for person in people.values()],
            },
            context={},
            created_at=trip.created_at,
        ).pause(people["olga"])
