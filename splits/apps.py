"""App configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class SplitsConfig(AppConfig):
    name = "splits"
    verbose_name = gettext_lazy("Ledger")
