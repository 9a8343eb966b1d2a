"""The outbox: mails that are still to be sent.

A mail is a row that is written in the transaction of its cause, and that names what the mail is
about. The text, with the link in it, is made when it is sent, so no secret ever lies here; what
was sent is deleted. Nothing is sent while a request is answered: `manage.py send_mail_queue` does
that. So an answer waits for no mail server, and takes no longer for an address that has an
account than for one that has none.
"""

import logging
import smtplib
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import models
from django.db.models import F, Q
from django.utils import timezone, translation
from rest_framework.exceptions import NotFound

from users.emails import MAX_EMAIL_CHARS, email_key
from users.letters import PAGES, Letter, url_of, write
from users.models.link import Link
from users.models.user import User

logger = logging.getLogger(__name__)

#: After each attempt the pause doubles. The first is longer than a mail server may take.
FIRST_PAUSE = timedelta(minutes=2)
LONGEST_PAUSE = timedelta(hours=1)
#: A mail that could not be sent for so long comes too late.
PATIENCE = timedelta(days=2)
#: How many mails to confirm an address an account may cause in an hour, also to other addresses.
VERIFY_MAILS_AN_HOUR = 5

#: What says that the server is at fault, and not one mail.
_SERVER_FAULTS = (
    smtplib.SMTPServerDisconnected,
    smtplib.SMTPConnectError,
    smtplib.SMTPHeloError,
    smtplib.SMTPAuthenticationError,
)


class Delivery(NamedTuple):
    """What came of a round: mails sent, attempts that failed, mails given up."""

    sent: int = 0
    failed: int = 0
    given_up: int = 0


def current_language() -> str:
    """The language of the request or command that runs."""
    return translation.get_language() or settings.LANGUAGE_CODE


class MailQuerySet(models.QuerySet["Mail"]):
    def waiting(self) -> "MailQuerySet":
        """Mails that will be tried, now or later."""
        return self.filter(given_up_at=None)

    def due(self) -> "MailQuerySet":
        """Mails to be tried now, the longest due first."""
        return self.waiting().filter(due_at__lte=timezone.now()).order_by("due_at", "id")

    def ask_for_reset(self, address: str) -> None:
        """Note that a new password was asked for; whether anybody has this address is seen later.

        So that the answer cannot tell, not even by its time.
        """
        self.create(letter=Letter.RESET, address=address)

    def ask_to_verify(self, user: User) -> None:
        """Ask `user` to confirm their address, unless they were asked often enough just now.

        Call inside `user.locked`, as `tell`, so that an emptied account gets no mail any more.
        """
        hour = timedelta(hours=1)
        waiting = user.mails.waiting().filter(letter=Letter.VERIFY).count()
        sent = user.links.sent_since(Letter.VERIFY, hour).count()
        if user.email and waiting + sent < VERIFY_MAILS_AN_HOUR:
            self.create(user=user, letter=Letter.VERIFY, address=user.email)

    def tell(self, user: User, letter: Letter, address: str) -> None:
        """Tell `user` at `address` that something was done to the account."""
        self.create(user=user, letter=letter, address=address)

    def deliver(self, is_over: Callable[[], bool] = bool) -> Delivery:
        """Try every mail that is due once. Stops early if `is_over`, or if the server is away.

        Call outside of transactions. Any number of processes may do this at once.
        """
        sent = failed = given_up = 0
        connection = get_connection()
        try:
            while not is_over() and (mail := self.due().first()) is not None:
                if mail.created_at < timezone.now() - PATIENCE:
                    given_up += mail.give_up("too old")
                elif mail.claim():
                    try:
                        sent += mail.send(connection)
                    except smtplib.SMTPRecipientsRefused as error:
                        failed += 1
                        given_up += mail.note_refusal(error)
                    except OSError as error:  # smtplib's exceptions are OSErrors too
                        failed += 1
                        mail.note(error)
                        if _is_fault_of_server(error):
                            break
                    except ValueError:
                        failed += 1
                        given_up += mail.give_up("no address that mail can be sent to")
        finally:
            connection.close()
        return Delivery(sent, failed, given_up)


class Mail(models.Model):
    """A mail to be sent. A reset knows the address only, and its account is looked up later."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="mails")
    letter = models.CharField(max_length=16, choices=Letter)
    address = models.CharField(max_length=MAX_EMAIL_CHARS)
    language = models.CharField(max_length=7, default=current_language)
    created_at = models.DateTimeField(default=timezone.now)
    #: When it is tried next. Whoever tries it moves this first.
    due_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveIntegerField(default=0)
    #: What the last attempt failed with; no text of the server's, which may repeat the address.
    error = models.CharField(max_length=100, blank=True, default="")
    given_up_at = models.DateTimeField(null=True)

    objects = MailQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["due_at", "id"], condition=Q(given_up_at=None), name="mail_due"),
            models.Index(
                fields=["given_up_at"],
                condition=Q(given_up_at__isnull=False),
                name="mail_by_giving_up",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.letter} {self.pk}"

    def claim(self) -> bool:
        """Take the next attempt; False if another process has it.

        The row is not locked while the server is talked to. Who dies over it leaves a mail that
        is due again after the pause.
        """
        pause = min(FIRST_PAUSE * 2 ** min(self.attempts, 10), LONGEST_PAUSE)
        mine = Mail.objects.due().filter(pk=self.pk)
        return bool(mine.update(due_at=timezone.now() + pause, attempts=F("attempts") + 1))

    def send(self, connection: Any) -> bool:
        """Send it over `connection`, and forget it; False if there is nobody to send it to.

        Raises OSError (of which smtplib's exceptions are) if it could not be sent.
        """
        message, reader = None, self._reader()
        if reader is not None and self._is_for(reader):
            connection.open()
            message = self._message_to(reader, connection)
            if message is not None:
                message.send()
        self.delete()
        return message is not None

    def _reader(self) -> User | None:
        """Whose mail it is, if they can be found."""
        if self.letter == Letter.RESET:
            return User.objects.with_email(self.address).first()
        return User.objects.active().filter(pk=self.user_id).first()

    def _is_for(self, reader: User) -> bool:
        """Whether `reader` may still get it, and it still has a point."""
        if not reader.is_active:
            return False
        if self.letter == Letter.RESET:
            return reader.email_key == email_key(self.address)
        if self.letter == Letter.VERIFY:
            return reader.email == self.address and reader.email_verified_at is None
        return True

    def _message_to(self, reader: User, connection: Any) -> EmailMessage | None:
        """What is sent, with a new link; None if it is not for `reader` any more."""
        try:
            with reader.locked(by=None) as account:
                return self._message(account, connection) if self._is_for(account) else None
        except NotFound:
            return None

    def _message(self, reader: User, connection: Any) -> EmailMessage:
        letter = Letter(self.letter)
        url = url_of(letter, Link.make(reader, letter)) if letter in PAGES else ""
        with translation.override(self.language):
            subject, text = write(letter, url)
        # A reset goes to the address that the account has, never to the spelling that was typed.
        address = reader.email or "" if letter == Letter.RESET else self.address
        headers = {"Auto-Submitted": "auto-generated"}
        return EmailMessage(subject, text, to=[address], headers=headers, connection=connection)

    def note(self, error: OSError) -> None:
        """Remember why it could not be sent; it stays due after the pause."""
        self.error = _in_a_word(error)
        Mail.objects.filter(pk=self.pk).update(error=self.error)
        logger.warning("%s was not sent: %s", self, self.error)

    def note_refusal(self, error: smtplib.SMTPRecipientsRefused) -> bool:
        """The same; True if the address was refused for good, and the mail given up."""
        self.note(error)
        return _code(error) >= 500 and self.give_up(self.error)

    def give_up(self, reason: str) -> bool:
        """Try no more, and keep the row to be seen; False if another process did this."""
        given_up = Mail.objects.waiting().filter(pk=self.pk)
        if not given_up.update(given_up_at=timezone.now(), error=reason):
            return False
        logger.error("%s was given up: %s", self, reason)
        return True


def _is_fault_of_server(error: OSError) -> bool:
    return isinstance(error, _SERVER_FAULTS) or not isinstance(error, smtplib.SMTPException)


def _code(error: OSError) -> int:
    """The number in an answer of the mail server; 0 if it gave none."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return min((code for code, _text in error.recipients.values()), default=0)
    return int(getattr(error, "smtp_code", 0))


def _in_a_word(error: OSError) -> str:
    return f"{type(error).__name__} {_code(error) or ''}".strip()
