"""Sends the mails of the outbox.

A mail is written when it is sent, so the outbox contains no secret. It contains links and no text
that a user entered, so nobody can make the service send their words to somebody else. All due
notices of an account are sent in one mail.
"""

import logging
import smtplib
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

from django.core.mail import EmailMessage, get_connection
from django.db import models
from django.utils import timezone, translation
from rest_framework.exceptions import NotFound

from tripcompanion.database.turns import Turns
from tripcompanion.database.watching import DATABASE_AWAY
from tripcompanion.notices.texts import page_of, write, write_notices
from tripcompanion.plugin import plugins
from users.emails import email_key
from users.mail_templates import PAGES, MailTemplate, notice_letters, url_of
from users.models import EmailToken, Mail, User

logger = logging.getLogger(__name__)

#: The time between two mails with notices to one account.
PAUSE = timedelta(minutes=5)
#: When the notices of a mail that could not be sent are due again.
RETRY_AFTER = timedelta(minutes=10)
#: A mail that could not be sent for this long is given up.
GIVE_UP_AFTER = timedelta(days=2)

#: Errors of the server, not of a single mail.
_SERVER_FAULTS = (
    smtplib.SMTPServerDisconnected,
    smtplib.SMTPConnectError,
    smtplib.SMTPHeloError,
    smtplib.SMTPAuthenticationError,
)


class Delivery(NamedTuple):
    """The result of a run: mails sent, attempts that failed, mails given up."""

    sent: int = 0
    failed: int = 0
    given_up: int = 0


def deliver(is_over: Callable[[], bool] = bool) -> Delivery:
    """Try to send every mail that is due. Stops early if `is_over` or on a server error.

    Addresses take turns. Call it outside transactions. Any number of processes may run it at once.
    """
    sent = failed = given_up = 0
    connection, turns = get_connection(), Turns("address")
    try:
        while not is_over() and (mail := turns.next(Mail.objects.due())) is not None:
            if mail.created_at < timezone.now() - GIVE_UP_AFTER:
                given_up += mail.give_up("too old")
            elif mail.claim():
                try:
                    sent += send(mail, connection)
                except smtplib.SMTPRecipientsRefused as error:
                    failed += 1
                    mail.note(_summary(error))
                    given_up += _code(error) >= 500 and mail.give_up(mail.error)
                except OSError as error:  # smtplib's exceptions are OSErrors too
                    failed += 1
                    mail.note(_summary(error))
                    if _is_server_fault(error):
                        break
                except ValueError:
                    failed += 1
                    given_up += mail.give_up("not an address that mail can be sent to")
                except DATABASE_AWAY:
                    raise
                except Exception as error:
                    # No row may stop the others.
                    failed += 1
                    logger.exception("Mail %s was not sent", mail.pk)
                    mail.note(type(error).__name__)
    finally:
        connection.close()
    return Delivery(sent, failed, given_up)


def send(mail: Mail, connection: Any) -> bool:
    """Send a mail over `connection` and delete its row; False if there is no recipient.

    Raises `OSError` (the base of smtplib's exceptions) if it could not be sent.
    """
    message, reader = None, _reader_of(mail)
    rows: models.QuerySet[Mail] = Mail.objects.filter(pk=mail.pk)
    if mail.letter in notice_letters().values():
        if reader is not None:
            connection.open()
            message, rows = _collect(mail, reader)
    elif link := _links().get(mail.letter):
        connection.open()
        url = link(mail)
        message = _written(mail, url, mail.address) if url else None
    elif reader is not None and _is_for(mail, reader):
        connection.open()
        message = _message_to(mail, reader)
    if message is not None:
        message.connection = connection
        message.send()
    rows.delete()
    return message is not None


def _collect(mail: Mail, reader: User) -> tuple[EmailMessage | None, models.QuerySet[Mail]]:
    """One message with all notices that are due for `reader`, and the rows to delete afterwards.

    The message is None if nothing is to be sent now; within `PAUSE` after the last mail, they are
    postponed. The account is locked, so that two senders do not report the same rows.
    """
    try:
        with reader.locked(by=None) as account:
            now = timezone.now()
            due = account.mails.due().filter(letter__in=notice_letters().values())
            ids = [mail.pk, *due.values_list("pk", flat=True)]
            rows = Mail.objects.filter(pk__in=ids)
            if account.noticed_at is not None and now < account.noticed_at + PAUSE:
                # All at once: thousands of one account would delay the mails of others.
                rows.update(due_at=account.noticed_at + PAUSE)
                return None, Mail.objects.none()
            wanted = [letter for event, letter in notice_letters().items() if account.wants(event)]
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
    url = account.unsubscribe_url()
    lines = [(notice.letter, page_of(notice.trip_id or 0, notice.expense_id)) for notice in notices]
    with translation.override(account.notice_language):
        subject, text = write_notices(lines, url)
    headers = {
        "Auto-Submitted": "auto-generated",
        # RFC 8058: mail programs offer a button that sends a POST to it.
        "List-Unsubscribe": f"<{url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    return EmailMessage(subject, text, to=[account.email or ""], headers=headers)


@cache
def _links() -> dict[str, Callable[[Any], str]]:
    """What makes the link of a mail to an address, by the name of the mail."""
    mails = ((name, mail) for app in plugins() for name, mail in app.mails().items())
    return {name: mail.link for name, mail in mails if mail.link}


def _reader_of(mail: Mail) -> User | None:
    """The account that the mail is for, if it exists."""
    if mail.letter == MailTemplate.RESET:
        return User.objects.with_email(mail.address).first()
    return User.objects.active().filter(pk=mail.user_id).first()


def _is_for(mail: Mail, reader: User) -> bool:
    """Whether `reader` may still get the mail and still needs it."""
    if not reader.is_active:
        return False
    if mail.letter == MailTemplate.RESET:
        return reader.email_key == email_key(mail.address)
    if mail.letter == MailTemplate.VERIFY:
        return reader.email == mail.address and reader.email_verified_at is None
    return True


def _message_to(mail: Mail, reader: User) -> EmailMessage | None:
    """The message, with a new link; None if it is no longer for `reader`."""
    letter = mail.letter
    try:
        with reader.locked(by=None) as account:
            if not _is_for(mail, account):
                return None
            url = ""
            if letter in PAGES:
                url = url_of(letter, EmailToken.make(account, MailTemplate(letter)))
    except NotFound:
        return None
    # A reset goes to the address as the account stores it, not as it was typed.
    address = account.email or "" if letter == MailTemplate.RESET else mail.address
    return _written(mail, url, address)


def _written(mail: Mail, url: str, address: str) -> EmailMessage:
    with translation.override(mail.language):
        subject, text = write(mail.letter, url)
    headers = {"Auto-Submitted": "auto-generated"}
    return EmailMessage(subject, text, to=[address], headers=headers)


def _is_server_fault(error: OSError) -> bool:
    return isinstance(error, _SERVER_FAULTS) or not isinstance(error, smtplib.SMTPException)


def _code(error: OSError) -> int:
    """The SMTP status code of an error; 0 if it has none."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return min((code for code, _text in error.recipients.values()), default=0)
    return int(getattr(error, "smtp_code", 0))


def _summary(error: OSError) -> str:
    return f"{type(error).__name__} {_code(error) or ''}".strip()
