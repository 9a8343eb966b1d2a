"""The routes by which programs log in; they exist if `SPLITWISE_OAUTH` is true."""

from django.urls import path

from tripcompanion.splitwise import oauth, oauth1

urlpatterns = [
    path("oauth/authorize", oauth.ConsentPage.as_view()),
    path("oauth/token", oauth.TokenEndpoint.as_view()),
    path("authorize", oauth1.SignedConsentPage.as_view()),
    path("api/v3.0/get_request_token", oauth1.RequestTokenEndpoint.as_view()),
    path("api/v3.0/get_access_token", oauth1.AccessTokenEndpoint.as_view()),
]
