"""The texts of the mails that the service sends.

They contain no user input, not even a name: anybody can register somebody else's address, and the
service would then deliver what they typed.
"""

from typing import Any

from django.utils.translation import gettext_lazy

from users.mail_templates import MailTemplate, mails_of_plugins

#: Subject and text of each mail of the core.
_TEXTS: dict[str, tuple[Any, Any]] = {
    MailTemplate.RESET: (
        gettext_lazy("Reset your Trip Companion password"),
        gettext_lazy(
            "Hello,\n\n"
            "We received a request to reset the password of your account. Open this link within an "
            "hour to choose a new one. It works once, and it ends all your sessions:\n\n"
            "{url}\n\n"
            "If you did not request this, ignore this e-mail: your password does not change.\n"
        ),
    ),
    MailTemplate.VERIFY: (
        gettext_lazy("Please confirm your e-mail address"),
        gettext_lazy(
            "Hello,\n\n"
            "Open this link within seven days to confirm the e-mail address of your Trip Companion "
            "account:\n\n"
            "{url}\n\n"
            "If you do not have such an account, ignore this e-mail.\n"
        ),
    ),
    MailTemplate.PASSWORD_CHANGED: (
        gettext_lazy("Your password was changed"),
        gettext_lazy(
            "Hello,\n\n"
            "The password of your Trip Companion account was changed. If you did not do this, "
            "reset your password at once. That ends all your sessions.\n"
        ),
    ),
    MailTemplate.EMAIL_CHANGED: (
        gettext_lazy("Your e-mail address was changed"),
        gettext_lazy(
            "Hello,\n\n"
            "The e-mail address of your Trip Companion account was changed. We will not send any "
            "more e-mails to this address. If you did not do this, please contact the operator of "
            "the service.\n"
        ),
    ),
    MailTemplate.WRONG_PASSWORDS: (
        gettext_lazy("Somebody may be guessing your password"),
        gettext_lazy(
            "Hello,\n\n"
            "Many wrong passwords were typed for your Trip Companion account within an hour. For "
            "the rest of the hour, a device that has not logged in before may try once in 15 "
            "minutes. Your devices are not affected. If you have forgotten your password, reset "
            "it.\n"
        ),
    ),
}


def write(letter: str, url: str) -> tuple[str, str]:
    """Subject and text in the active language."""
    added = mails_of_plugins().get(letter)
    subject, text = added[1:3] if added else _TEXTS[letter]
    return str(subject), text.format(url=url)
