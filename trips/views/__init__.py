"""Views of trips and their members."""

from trips.views.invitation import InvitationPreviewViewSet, InvitationViewSet
from trips.views.member import GuestViewSet, MemberViewSet
from trips.views.trip import TripViewSet
