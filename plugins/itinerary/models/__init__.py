"""Activities, the expenses that belong to them, and the days of an itinerary."""

from plugins.itinerary.models.activity import Activity
from plugins.itinerary.models.cost import ActivityExpense
from plugins.itinerary.models.itinerary import Itinerary, ItineraryDay
