"""The routes of signing in with a provider."""

from django.urls import path

from plugins.sign_in.views import IdentityViewSet, ProviderLoginViewSet
from tripcompanion.api.url_map import LIST

ME = [
    path("/identities", IdentityViewSet.as_view(LIST)),
    path("/identities/<id:identity_id>", IdentityViewSet.as_view({"delete": "destroy"})),
]
API = [
    path("users/login/oidc", ProviderLoginViewSet.as_view({"post": "log_in"})),
    path("users/login/oidc/nonce", ProviderLoginViewSet.as_view({"post": "nonce"})),
]
