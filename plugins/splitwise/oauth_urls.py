"""The routes by which programs log in; they exist if `SPLITWISE_OAUTH` is true."""

from django.urls import path

from plugins.splitwise import oauth

urlpatterns = [
    path("oauth/authorize", oauth.ConsentPage.as_view()),
    path("oauth/token", oauth.TokenEndpoint.as_view()),
]
