"""Notices by mail: what an account wants to be told about."""

from django.conf import settings
from django.db import models
from django.utils import translation
from django.utils.translation import gettext_lazy


def current_language() -> str:
    """The language of the current request or command."""
    return translation.get_language() or settings.LANGUAGE_CODE


class NoticeMode(models.TextChoices):
    """When an account gets mails about its trips."""

    OFF = "off", gettext_lazy("never")
    EACH = "each", gettext_lazy("at once")
    DAILY = "daily", gettext_lazy("once a day")
