"""The texts of the mails that the service sends.

They contain no user input, not even a name: anybody can register somebody else's address, and the
service would then deliver what they typed.
"""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import plugins
from users.mail_templates import MailTemplate

#: Subject and text of each mail of the core but notices.
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

#: What happened, in a mail with notices.
_SENTENCES: dict[str, Any] = {
    MailTemplate.MEMBER_ADDED: gettext_lazy("You were added to a trip:"),
    MailTemplate.SPLIT_PAID: gettext_lazy("Your part of an expense was marked as paid:"),
    MailTemplate.EXPENSE_CREATED: gettext_lazy("An expense that you take part in was recorded:"),
    MailTemplate.EXPENSE_CHANGED: gettext_lazy("An expense that you take part in was changed:"),
}


def page_of(trip_id: int, expense_id: int | None) -> str:
    """The URL of the front-end page with a trip, or with an expense of it."""
    path = f"/trips/{trip_id}" + (f"/expenses/{expense_id}" if expense_id else "")
    return f"{settings.FRONTEND_URL}{path}"


def write(letter: str, url: str) -> tuple[str, str]:
    """Subject and text in the active language."""
    added = {name: mail[1:3] for app in plugins() for name, mail in app.mails().items()}
    subject, text = (_TEXTS | added)[letter]
    return str(subject), text.format(url=url)


def write_notices(notices: Iterable[tuple[str, str]], unsubscribe_url: str) -> tuple[str, str]:
    """The same for a mail with notices, each with the page that it leads to."""
    added = {row.letter: row.sentence for app in plugins() for row in app.notices().values()}
    sentences: dict[str, Any] = {**_SENTENCES, **added}
    news = "\n\n".join(f"{sentences[letter]}\n{page}" for letter, page in notices)
    text = _(
        "Hello,\n\n"
        "This happened in your trips:\n\n"
        "{news}\n\n"
        "You get this e-mail because your Trip Companion account asks for it. To get no more of "
        "them, open this link:\n\n"
        "{url}\n"
    )
    return _("News from your trips"), text.format(news=news, url=unsubscribe_url)
