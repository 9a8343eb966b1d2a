"""The plan of the trip to Lisbon in the demo."""

from collections.abc import Mapping
from datetime import timedelta

from plugins.itinerary.models import Activity, ItineraryDay
from plugins.itinerary.models.activity import ActivityCategory, ActivityType
from trips.models import Trip
from users.models import User

#: For each: who adds it, on which day, when, for how many minutes, what it is, and where.
_PLAN = (
    ("olga", 0, "16:00", 60, "Keys of the flat", "Beco do Carneiro", ActivityCategory.HOTEL),
    ("olga", 0, "19:30", 120, "Dinner in Alfama", "Rua dos Remédios", ActivityCategory.RESTAURANT),
    ("ed", 1, "09:30", 90, "Castle of São Jorge", "Rua de Santa Cruz", ActivityCategory.LANDMARK),
    ("ed", 1, "12:00", 30, "Custard tarts", "Belém", ActivityCategory.SHOP),
    ("olga", 2, "08:40", 40, "Train to Sintra", "Rossio", ActivityCategory.TRANSPORT),
    ("olga", 2, "10:00", 180, "Palace of Pena", "Sintra", ActivityCategory.LANDMARK),
    ("ed", 3, "10:00", 120, "Surf lesson", "Cascais", ActivityCategory.PARK),
    ("olga", 4, "11:00", 90, "Museum of tiles", "Rua da Madre de Deus", ActivityCategory.MUSEUM),
    ("ed", None, None, None, "Ride tram 28", None, ActivityCategory.TRANSPORT),
)


def add_plan(trip: Trip, people: Mapping[str, User]) -> None:
    """Plan the days of `trip`."""
    for key, number, time, minutes, title, place, category in _PLAN:
        is_way = category == ActivityCategory.TRANSPORT
        Activity.add(
            trip,
            people[key],
            title=title,
            type=ActivityType.TRANSITION if is_way else ActivityType.ACTIVITY,
            date=None if number is None else trip.start_date + timedelta(days=number),
            start_time=time,
            duration_minutes=minutes,
            location=place,
            category=category,
        )
    ItineraryDay.change(trip, people["olga"], trip.start_date, completed=True, title="Arrival")
