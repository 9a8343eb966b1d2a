"""App configuration."""

from django.apps import AppConfig


class SyncConfig(AppConfig):
    name = "tripcompanion.sync"
