"""What mails are about, and the pages that their links open."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import MailText, plugins


class MailTemplate(models.TextChoices):
    """What a mail is about."""

    RESET = "RESET", gettext_lazy("password reset requested")
    VERIFY = "VERIFY", gettext_lazy("e-mail address confirmation")
    PASSWORD_CHANGED = "PASSWORD_CHANGED", gettext_lazy("password changed")
    EMAIL_CHANGED = "EMAIL_CHANGED", gettext_lazy("e-mail address changed")
    WRONG_PASSWORDS = "WRONG_PASSWORDS", gettext_lazy("many wrong passwords")


@cache
def mails_of_plugins() -> Mapping[str, MailText]:
    """The mails that plugins queue, by their names."""
    return {name: mail for app in plugins() for name, mail in app.mails().items()}


def letters() -> list[tuple[str, Any]]:
    """All mails that this release can write, with their labels: also those of plugins."""
    return [*MailTemplate.choices, *((k, mail.label) for k, mail in mails_of_plugins().items())]


def first_notices() -> str:
    """The events that an account is notified of at first, separated by spaces."""
    found = [item for app in plugins() for item in app.notices.items()]
    return " ".join(event for event, notice in found if notice.at_first)


#: The front-end pages that the links open; each page sends the token back to the API.
PAGES = {MailTemplate.RESET: "/reset-password", MailTemplate.VERIFY: "/verify-email"}


def url_of(letter: str, token: str) -> str:
    """The URL of the link in a mail."""
    return f"{settings.FRONTEND_URL}{PAGES[MailTemplate(letter)]}?{urlencode({'token': token})}"
