"""The route of the public keys."""

from django.urls import path

from plugins.public_keys.views import KeySet

PAGES = [path(".well-known/jwks.json", KeySet.as_view())]
