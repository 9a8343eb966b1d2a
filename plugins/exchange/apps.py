"""App configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class ExchangeConfig(AppConfig):
    name = "plugins.exchange"
    verbose_name = gettext_lazy("Imports")
