"""The admin site registers programs. What else the toolkit has there, this service does not use."""

from django.apps import apps
from django.contrib import admin

if apps.is_installed("oauth2_provider"):
    from oauth2_provider.models import AccessToken, Grant, IDToken, RefreshToken

    admin.site.unregister([AccessToken, Grant, IDToken, RefreshToken])
