"""App configuration."""

from importlib import import_module

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "tripcompanion.notices"

    def ready(self) -> None:
        # Nothing imports the receiver of the signal.
        import_module("tripcompanion.notices.queueing")
