"""Views of trips and their members."""

from trips.views.guest import GuestViewSet
from trips.views.invitation import (
    InvitationPreviewViewSet,
    InvitationViewSet,
)
from trips.views.member import MemberViewSet
from trips.views.trip import TripViewSet
