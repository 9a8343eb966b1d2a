"""App configuration."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin


class RecurringConfig(Plugin):
    name = "plugins.recurring"
    verbose_name = gettext_lazy("Recurring expenses")
