"""The routes of invitations and of codes."""

from django.urls import path

from plugins.invitations.views import (
    AcceptanceViewSet,
    CodeViewSet,
    InvitationPreviewViewSet,
    InvitationViewSet,
)
from tripcompanion.api.url_map import LIST

TRIP = [
    path("/code", CodeViewSet.as_view({"post": "renew_code"})),
    path("/invitations", InvitationViewSet.as_view(LIST)),
    path("/invitations/<id:invitation_id>", InvitationViewSet.as_view({"delete": "destroy"})),
]
API = [
    path("trips/code/<str:code>", CodeViewSet.as_view({"get": "by_code"})),
    path("trips/join", CodeViewSet.as_view({"post": "join"})),
    path("invitations/<str:token>", InvitationPreviewViewSet.as_view({"get": "retrieve"})),
    path("invitations/<str:token>/accept", AcceptanceViewSet.as_view({"post": "accept"})),
]
