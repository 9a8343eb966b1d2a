"""App configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class SplitwiseConfig(AppConfig):
    name = "plugins.splitwise"
    verbose_name = gettext_lazy("Programs for Splitwise's API")
