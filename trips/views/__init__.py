"""Trips, their members, and what people see of one another."""

from trips.views.account import TokenViewSet, UserViewSet
from trips.views.member import MemberViewSet
from trips.views.trip import TripViewSet

__all__ = ["MemberViewSet", "TokenViewSet", "TripViewSet", "UserViewSet"]
