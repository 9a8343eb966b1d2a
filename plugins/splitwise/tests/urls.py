"""The routes of the service with those for Splitwise's clients."""

from django.urls import include, path

from plugins.splitwise.urls import ROUTES
from tripcompanion.urls import *  # noqa: F403
from tripcompanion.urls import urlpatterns as ours

urlpatterns = [path("api/v3.0/", include(ROUTES)), *ours]
