"""App configuration."""

from django.apps import AppConfig


class KitConfig(AppConfig):
    name = "tripcompanion.kit"
    label = "kit"
