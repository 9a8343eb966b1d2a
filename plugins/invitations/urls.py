"""The routes of invitations."""

from django.urls import path
from django.utils.translation import gettext as _

from plugins.invitations.views import (
    AcceptanceViewSet,
    InvitationPreviewViewSet,
    InvitationViewSet,
)
from tripcompanion.api.url_map import LIST

TRIP = [
    path("/invitations", InvitationViewSet.as_view(LIST)),
    path("/invitations/<id:invitation_id>", InvitationViewSet.as_view({"delete": "destroy"})),
]
API = [
    path("invitations/<str:token>", InvitationPreviewViewSet.as_view({"get": "retrieve"})),
    path("invitations/<str:token>/accept", AcceptanceViewSet.as_view({"post": "accept"})),
]
TITLES = (_("Accept"), _("Invitations"))
