"""The mails of the service: when there is one, and what it says."""

from urllib.parse import urlencode

from django.conf import settings
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


class Letter(models.TextChoices):
    """What a mail is about."""

    RESET = "RESET", gettext_lazy("new password asked for")
    VERIFY = "VERIFY", gettext_lazy("e-mail address to be confirmed")
    PASSWORD_CHANGED = "PASSWORD_CHANGED", gettext_lazy("password changed")
    EMAIL_CHANGED = "EMAIL_CHANGED", gettext_lazy("e-mail address changed")


#: The pages of the front end that a link opens; they send its token back to the API.
PAGES = {Letter.RESET: "/reset-password", Letter.VERIFY: "/verify-email"}


def url_of(letter: str, token: str) -> str:
    """Where the link in a mail leads."""
    return f"{settings.FRONTEND_URL}{PAGES[Letter(letter)]}?{urlencode({'token': token})}"


def write(letter: str, url: str) -> tuple[str, str]:
    """Subject and text, in the language that is active.

    Nothing that a user typed is in them, not even a name: anybody can register anybody's address,
    and would have us deliver their words.
    """
    subject, text = {
        Letter.RESET: _reset,
        Letter.VERIFY: _verify,
        Letter.PASSWORD_CHANGED: _password_changed,
        Letter.EMAIL_CHANGED: _email_changed,
    }[Letter(letter)]()
    return subject, text.format(url=url)


def _reset() -> tuple[str, str]:
    return _("Your new password for Trip Companion"), _(
        "Hello,\n\n"
        "somebody asked for a new password for your account. Open this link within an hour to "
        "choose one; it works once, and ends all log-ins:\n\n"
        "{url}\n\n"
        "If it was not you, do nothing: your password stays as it is.\n"
    )


def _verify() -> tuple[str, str]:
    return _("Please confirm your e-mail address"), _(
        "Hello,\n\n"
        "open this link within seven days to confirm that your Trip Companion account has this "
        "e-mail address:\n\n"
        "{url}\n\n"
        "If you have no account there, do nothing.\n"
    )


def _password_changed() -> tuple[str, str]:
    return _("Your password was changed"), _(
        "Hello,\n\n"
        "the password of your Trip Companion account was changed. If it was not you, ask for a "
        "new password at once; that ends all log-ins.\n"
    )


def _email_changed() -> tuple[str, str]:
    return _("Your e-mail address was changed"), _(
        "Hello,\n\n"
        "your Trip Companion account has another e-mail address from now on, and no more mails "
        "come here. If it was not you, please write to whoever runs the service.\n"
    )
