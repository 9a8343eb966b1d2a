"""App configuration."""

from django.apps import AppConfig


class StatisticsConfig(AppConfig):
    name = "tripcompanion.statistics"
