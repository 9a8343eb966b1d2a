"""App configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class RecurringConfig(AppConfig):
    name = "plugins.recurring"
    verbose_name = gettext_lazy("Recurring expenses")
