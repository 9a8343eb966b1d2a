"""What mails are about, and the pages that their links open."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import plugins


class MailTemplate(models.TextChoices):
    """What a mail is about."""

    RESET = "RESET", gettext_lazy("password reset requested")
    VERIFY = "VERIFY", gettext_lazy("e-mail address confirmation")
    PASSWORD_CHANGED = "PASSWORD_CHANGED", gettext_lazy("password changed")
    EMAIL_CHANGED = "EMAIL_CHANGED", gettext_lazy("e-mail address changed")
    WRONG_PASSWORDS = "WRONG_PASSWORDS", gettext_lazy("many wrong passwords")
    MEMBER_ADDED = "MEMBER_ADDED", gettext_lazy("notice: added to a trip")
    SPLIT_PAID = "SPLIT_PAID", gettext_lazy("notice: split paid")
    EXPENSE_CREATED = "EXPENSE_CREATED", gettext_lazy("notice: expense recorded")
    EXPENSE_CHANGED = "EXPENSE_CHANGED", gettext_lazy("notice: expense changed")


def letters() -> list[tuple[str, Any]]:
    """All mails that this release can write, with their labels: also those of plugins."""
    added = [(name, mail.label) for app in plugins() for name, mail in app.mails().items()]
    news = [(notice.letter, notice.label) for app in plugins() for notice in app.notices().values()]
    return [*MailTemplate.choices, *added, *news]


#: What accounts may be notified of, by the name of the event in the API; see `notice_letters`.
NOTICES: Mapping[str, str] = {
    "member.added": MailTemplate.MEMBER_ADDED,
    "split.paid": MailTemplate.SPLIT_PAID,
    "expense.created": MailTemplate.EXPENSE_CREATED,
    "expense.changed": MailTemplate.EXPENSE_CHANGED,
}


@cache
def notice_letters() -> Mapping[str, str]:
    """The mails about all that accounts may be notified of, by the name of the event."""
    added = ((event, notice) for app in plugins() for event, notice in app.notices().items())
    return {**NOTICES, **{event: notice.letter for event, notice in added}}


def first_notices() -> str:
    """The events that an account is notified of at first, separated by spaces."""
    added = [(event, notice) for app in plugins() for event, notice in app.notices().items()]
    return " ".join([*NOTICES, *(event for event, notice in added if notice.at_first)])


#: The front-end pages that the links open; each page sends the token back to the API.
PAGES = {
    MailTemplate.RESET: "/reset-password",
    MailTemplate.VERIFY: "/verify-email",
}


def url_of(letter: str, token: str) -> str:
    """The URL of the link in a mail."""
    return f"{settings.FRONTEND_URL}{PAGES[MailTemplate(letter)]}?{urlencode({'token': token})}"
