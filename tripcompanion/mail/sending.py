"""Sends the mails of the outbox.

A mail is written when it is sent, so the outbox contains no secret. It contains links and no text
that a user entered, so nobody can make the service send their words to somebody else.
"""

import logging
import smtplib
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from django.core.mail import EmailMessage, get_connection
from django.db import models
from django.utils import timezone, translation
from rest_framework.exceptions import NotFound

from tripcompanion.database.turns import Turns
from tripcompanion.database.watching import DATABASE_AWAY
from tripcompanion.mail.texts import write
from users.emails import email_key
from users.mail_templates import PAGES, MailTemplate, mails_of_plugins, url_of
from users.models import EmailToken, Mail, User

logger = logging.getLogger(__name__)

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
                except OSError as error:  # smtplib's exceptions are OSErrors too
                    failed += 1
                    mail.note(_summary(error))
                    if _is_server_fault(error):
                        break
                    # smtplib has closed it after a 421.
                    connection.close()
                    is_refused = isinstance(error, smtplib.SMTPRecipientsRefused)
                    given_up += is_refused and _code(error) >= 500 and mail.give_up(mail.error)
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
    added = mails_of_plugins().get(mail.letter)
    if added and added.collect:
        if reader is not None:
            connection.open()
            message, rows = added.collect(mail, reader)
    elif added and added.link:
        connection.open()
        url = added.link(mail)
        message = _written(mail, url, mail.address) if url else None
    elif reader is not None and _is_for(mail, reader):
        connection.open()
        message = _message_to(mail, reader)
    if message is not None:
        message.connection = connection
        message.send()
    rows.delete()
    return message is not None


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
