"""App configuration."""

from django.apps import AppConfig


class ExchangeConfig(AppConfig):
    name = "tripcompanion.exchange"
    label = "exchange"
