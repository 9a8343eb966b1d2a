"""App configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class TripsConfig(AppConfig):
    name = "trips"
    verbose_name = gettext_lazy("Trips")
