"""App configuration."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin


class ExchangeConfig(Plugin):
    name = "plugins.exchange"
    verbose_name = gettext_lazy("Imports")
