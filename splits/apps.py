"""App configuration."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin


class SplitsConfig(Plugin):
    name = "splits"
    verbose_name = gettext_lazy("Ledger")
