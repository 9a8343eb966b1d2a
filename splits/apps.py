"""App configuration."""

from django.apps import AppConfig


class SplitsConfig(AppConfig):
    name = "splits"
