"""Views of trips, their members, and of accounts as their trips allow."""

from trips.views.member import GuestViewSet, MemberViewSet
from trips.views.token import TokenViewSet
from trips.views.trip import TripViewSet
from trips.views.user import AccountViewSet, UserViewSet
