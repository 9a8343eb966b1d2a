"""The routes by which programs log in; they exist if `SPLITWISE_OAUTH` is true."""

from django.urls import path

from tripcompanion.splitwise.oauth import ConsentPage, TokenEndpoint
from tripcompanion.splitwise.oauth1 import (
    AccessTokenEndpoint,
    RequestTokenEndpoint,
    SignedConsentPage,
)

urlpatterns = [
    path("oauth/authorize", ConsentPage.as_view()),
    path("oauth/token", TokenEndpoint.as_view()),
    path("authorize", SignedConsentPage.as_view()),
    path("api/v3.0/get_request_token", RequestTokenEndpoint.as_view()),
    path("api/v3.0/get_access_token", AccessTokenEndpoint.as_view()),
]
