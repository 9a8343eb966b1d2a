"""App configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class WebhooksConfig(AppConfig):
    name = "plugins.webhooks"
    verbose_name = gettext_lazy("Webhooks")
