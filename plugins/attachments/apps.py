"""App configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class AttachmentsConfig(AppConfig):
    name = "plugins.attachments"
    verbose_name = gettext_lazy("Attachments")
