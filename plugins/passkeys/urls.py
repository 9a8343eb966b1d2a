"""The routes of passkeys: none if the front end cannot have passkeys."""

from django.urls import path

from plugins.passkeys.relying_party import relying_party
from plugins.passkeys.views import PasskeyLoginViewSet, PasskeyViewSet
from tripcompanion.api.url_map import LIST

ME = [
    path("/passkeys", PasskeyViewSet.as_view(LIST)),
    path("/passkeys/options", PasskeyViewSet.as_view({"post": "prepare"})),
    path("/passkeys/<id:passkey_id>", PasskeyViewSet.as_view({"delete": "destroy"})),
]
API = [
    path("users/login/passkey", PasskeyLoginViewSet.as_view({"post": "log_in"})),
    path("users/login/passkey/options", PasskeyLoginViewSet.as_view({"post": "prepare"})),
]
if relying_party() is None:
    ME = API = []
