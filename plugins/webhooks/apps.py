"""App configuration."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin


class WebhooksConfig(Plugin):
    name = "plugins.webhooks"
    verbose_name = gettext_lazy("Webhooks")
