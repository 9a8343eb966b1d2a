"""Writes all notices that are due for an account into one mail.

It contains no user input, not even a name; see `tripcompanion.mail.texts`.
"""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import models
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound

from plugins.notices.kinds import LETTERS, NOTICES, letter_of
from plugins.notices.unsubscribing import unsubscribe_url
from tripcompanion.plugin import MailText
from users.models import Mail, User

#: The time between two mails with notices to one account.
PAUSE = timedelta(minutes=5)
#: When the notices of a mail that could not be sent are due again.
RETRY_AFTER = timedelta(minutes=10)

_SUBJECT = gettext_lazy("News from your trips")
_TEXT = gettext_lazy(
    "Hello,\n\n"
    "This happened in your trips:\n\n"
    "{news}\n\n"
    "You get this e-mail because your Trip Companion account asks for it. To get no more of "
    "them, open this link:\n\n"
    "{url}\n"
)
#: What happened.
_SENTENCES = {letter_of(event): notice.sentence for event, notice in NOTICES.items()}


def collect(mail: Mail, reader: User) -> tuple[EmailMessage | None, models.QuerySet[Mail]]:
    """One message with all notices that are due for `reader`, and the rows to delete afterwards.

    The message is None if nothing is to be sent now; within `PAUSE` after the last mail, they are
    postponed. The account is locked, so that two senders do not report the same rows.
    """
    try:
        with reader.locked(by=None) as account:
            now = timezone.now()
            due = account.mails.due().filter(letter__in=LETTERS)
            ids = [mail.pk, *due.values_list("pk", flat=True)]
            rows = Mail.objects.filter(pk__in=ids)
            if account.noticed_at is not None and now < account.noticed_at + PAUSE:
                # All at once: thousands of one account would delay the mails of others.
                rows.update(due_at=account.noticed_at + PAUSE)
                return None, Mail.objects.none()
            wanted = [letter_of(event) for event in NOTICES if wants(account, event)]
            present = account.memberships.filter(left_at=None)
            # They may have left since the notice was written.
            rows.exclude(letter__in=wanted, trip_id__in=present.values("trip")).delete()
            notices = list(rows.order_by("id"))
            if not notices:
                return None, Mail.objects.none()
            # They are due again like this one if it cannot be sent.
            rows.exclude(pk=mail.pk).update(due_at=now + RETRY_AFTER)
            account.noticed_at = now
            account.save(update_fields=["noticed_at"])
            return _news(account, notices), rows
    except NotFound:
        return None, Mail.objects.filter(pk=mail.pk)


def _news(account: User, notices: Iterable[Mail]) -> EmailMessage:
    url = unsubscribe_url(account)
    with translation.override(account.notice_language):
        news = "\n\n".join(f"{_SENTENCES[mail.letter]}\n{_page_of(mail)}" for mail in notices)
        subject, text = str(_SUBJECT), _TEXT.format(news=news, url=url)
    headers = {
        "Auto-Submitted": "auto-generated",
        # RFC 8058: mail programs offer a button that sends a POST to it.
        "List-Unsubscribe": f"<{url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    return EmailMessage(subject, text, to=[account.email or ""], headers=headers)


def wants(account: User, event: str) -> bool:
    """Whether an account gets mails about `event` now."""
    is_reachable = account.is_active and account.email_verified_at is not None
    return is_reachable and account.may_want_notices and event in account.notice_events.split()


def _page_of(mail: Mail) -> str:
    """The URL of the front-end page with the trip, or with the expense of it."""
    expense = f"/expenses/{mail.expense_id}" if mail.expense_id else ""
    return f"{settings.FRONTEND_URL}/trips/{mail.trip_id or 0}{expense}"


#: See `Plugin.mails`.
MAILS = {
    letter_of(event): MailText(notice.label, _SUBJECT, _TEXT, collect=collect)
    for event, notice in NOTICES.items()
}
