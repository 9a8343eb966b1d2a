"""The outbox: mails that wait to be sent.

A request inserts a row in its own transaction; `manage.py send_mail_queue` sends the mail and
deletes the row. The row stores what the mail is about. Its text, with the link, is rendered when
it is sent, so the outbox contains no secret. No request waits for a mail server, so the response
time does not reveal whether an address has an account.
"""

import logging
import smtplib
from collections.abc import Callable, Iterable
from datetime import datetime, time, timedelta
from typing import Any, NamedTuple

from django.core.mail import EmailMessage, get_connection
from django.db import models
from django.db.models import Count, F, Q
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound

from users.emails import MAX_EMAIL_CHARS, email_key
from users.mail_templates import NOTICES, PAGES, MailTemplate, page_of, url_of, write, write_notices
from users.models.email_token import EmailToken
from users.models.notices import NoticeMode, current_language
from users.models.user import User

logger = logging.getLogger(__name__)

#: The time between two mails with notices to one account.
PAUSE = timedelta(minutes=5)
#: When the daily digest is due (UTC).
DIGEST_AT = time(16)
#: How many notices may wait for an account; more are dropped.
MAX_WAITING = 50

#: When the notices of a mail that could not be sent are due again.
RETRY_AFTER = timedelta(minutes=10)
#: The pause doubles after each attempt. The first is longer than the mail time-out.
FIRST_PAUSE = timedelta(minutes=2)
LONGEST_PAUSE = timedelta(hours=1)
#: A mail that could not be sent for this long is given up.
GIVE_UP_AFTER = timedelta(days=2)
#: How many verification mails an account may cause in an hour, to all its addresses together.
VERIFY_MAILS_AN_HOUR = 5

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


def _readers_of(event: str, users: models.QuerySet[User]) -> models.QuerySet[User]:
    """Those of `users` who want to be notified of `event` and have room for another notice."""
    wanting = (
        users.filter(is_active=True, deleted_at=None, email_verified_at__isnull=False)
        .filter(notice_events__contains=event)
        .exclude(notice_mode=NoticeMode.OFF)
    )
    # No subquery refers to the outer one: Citus then reads the mails where they are.
    waiting = wanting.filter(mails__letter__in=NOTICES.values(), mails__given_up_at=None)
    counted: Any = waiting.values("pk").annotate(waiting=Count("mails"))
    full = counted.filter(waiting__gte=MAX_WAITING)
    return wanting.exclude(pk__in=full.values("pk"))


def _next_notice_at(reader: User) -> datetime:
    """When a notice that is created now is due."""
    now = timezone.now()
    if reader.notice_mode != NoticeMode.DAILY:
        return now
    digest = now.replace(hour=DIGEST_AT.hour, minute=0, second=0, microsecond=0)
    return digest if now < digest else digest + timedelta(days=1)


class MailQuerySet(models.QuerySet["Mail"]):
    def waiting(self) -> "MailQuerySet":
        """Mails that were not given up, whether they are due or not."""
        return self.filter(given_up_at=None)

    def due(self) -> "MailQuerySet":
        """Mails to be sent now, the longest overdue first."""
        return self.waiting().filter(due_at__lte=timezone.now()).order_by("due_at", "id")

    def ask_for_reset(self, address: str) -> None:
        """Queue a password reset mail. The account is looked up when the mail is sent.

        So the response does not reveal whether the address has an account, not even by its timing.
        """
        self.create(letter=MailTemplate.RESET, address=address)

    def ask_to_verify(self, user: User) -> None:
        """Queue a mail that asks `user` to confirm their address, up to the hourly limit.

        Call it and `tell` inside `user.locked`, so that an emptied account gets no more mail.
        """
        hour = timedelta(hours=1)
        waiting = user.mails.waiting().filter(letter=MailTemplate.VERIFY).count()
        sent = user.links.sent_since(MailTemplate.VERIFY, hour).count()
        if user.email and waiting + sent < VERIFY_MAILS_AN_HOUR:
            self.create(user=user, letter=MailTemplate.VERIFY, address=user.email)

    def tell(self, user: User, letter: MailTemplate, address: str) -> None:
        """Queue a mail that notifies `user` at `address` of a change of the account."""
        self.create(user=user, letter=letter, address=address)

    def invite(self, invitation: Any, address: str) -> None:
        """Queue a mail with a link to accept `invitation`."""
        self.create(letter=MailTemplate.INVITATION, address=address, invitation=invitation)

    def notify(self, event: str, users: models.QuerySet[User], **about: int) -> None:
        """Queue a notice of `event` for those of `users` who want it.

        `event` is a key of `NOTICES`. `about` has the trip's id and, unless it is about the trip
        itself, the expense's. Accounts for which the same notice is waiting get no second one.
        """
        letter = NOTICES[event]
        same = self.waiting().filter(user__isnull=False, letter=letter, **about)
        readers = _readers_of(event, users).exclude(pk__in=same.values("user")).order_by("pk")
        Mail.objects.bulk_create(
            Mail(
                user=reader,
                letter=letter,
                address=reader.email or "",
                language=reader.notice_language,
                due_at=_next_notice_at(reader),
                **about,
            )
            for reader in readers
        )

    def deliver(self, is_over: Callable[[], bool] = bool) -> Delivery:
        """Try to send every mail that is due. Stops early if `is_over` or on a server error.

        Call it outside transactions. Any number of processes may run it at once.
        """
        sent = failed = given_up = 0
        connection = get_connection()
        try:
            while not is_over() and (mail := self.due().first()) is not None:
                if mail.created_at < timezone.now() - GIVE_UP_AFTER:
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
                        if _is_server_fault(error):
                            break
                    except ValueError:
                        failed += 1
                        given_up += mail.give_up("not an address that mail can be sent to")
        finally:
            connection.close()
        return Delivery(sent, failed, given_up)


class Mail(models.Model):
    """A mail to send. A reset has an address only; its account is looked up when it is sent.

    An invitation has no account either: it goes to whoever reads mail at the address. All due
    notices of an account are sent in one mail. It contains links and no text that a user entered,
    so nobody can make the service send their words to somebody else.
    """

    #: CASCADE: nobody needs a mail about something that was deleted.
    trip = models.ForeignKey("trips.Trip", on_delete=models.CASCADE, null=True, related_name="+")
    expense = models.ForeignKey(
        "splits.Expense", on_delete=models.CASCADE, null=True, related_name="+"
    )
    user = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        null=True,
        related_name="mails",
        verbose_name=gettext_lazy("user"),
    )
    #: What it invites to. CASCADE: a deleted invitation needs no mail.
    invitation = models.ForeignKey(
        "trips.Invitation", on_delete=models.CASCADE, null=True, related_name="mails"
    )
    letter = models.CharField(gettext_lazy("subject"), max_length=16, choices=MailTemplate)
    address = models.CharField(gettext_lazy("address"), max_length=MAX_EMAIL_CHARS)
    language = models.CharField(gettext_lazy("language"), max_length=7, default=current_language)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    #: When the next attempt is due. A sender postpones it before each attempt.
    due_at = models.DateTimeField(gettext_lazy("next attempt at"), default=timezone.now)
    attempts = models.PositiveIntegerField(gettext_lazy("attempts"), default=0)
    #: The last error, without the server's text, which may contain the address.
    error = models.CharField(gettext_lazy("last error"), max_length=100, blank=True, default="")
    given_up_at = models.DateTimeField(gettext_lazy("given up at"), null=True)

    objects = MailQuerySet.as_manager()

    class Meta:
        verbose_name = gettext_lazy("mail")
        verbose_name_plural = gettext_lazy("mails")
        indexes = [
            models.Index(fields=["due_at", "id"], condition=Q(given_up_at=None), name="mail_due"),
            models.Index(
                fields=["given_up_at"],
                condition=Q(given_up_at__isnull=False),
                name="mail_by_giving_up",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_letter_display()} #{self.pk}"

    def retry(self) -> bool:
        """Queue a mail that was given up as if it were new; False if it was not given up.

        A mail that is still waiting is not changed, because a sender may be working on it.
        """
        now, given_up = timezone.now(), Mail.objects.filter(pk=self.pk, given_up_at__isnull=False)
        # The time until a mail is given up starts with its creation.
        return bool(given_up.update(given_up_at=None, created_at=now, due_at=now, attempts=0))

    def claim(self) -> bool:
        """Claim the next attempt by postponing it; False if another process has claimed it.

        The row is not locked during the connection. A crash while sending means the mail is due
        again after the pause, so it may be sent twice (at least once).
        """
        pause = min(FIRST_PAUSE * 2 ** min(self.attempts, 10), LONGEST_PAUSE)
        mine = Mail.objects.due().filter(pk=self.pk)
        return bool(mine.update(due_at=timezone.now() + pause, attempts=F("attempts") + 1))

    def send(self, connection: Any) -> bool:
        """Send it over `connection` and delete the row; False if there is no recipient.

        Raises `OSError` (the base of smtplib's exceptions) if it could not be sent.
        """
        message, reader = None, self._reader()
        if self.is_notice:
            return self.send_notices(reader, connection)
        if self.invitation is not None:
            connection.open()
            message = self._invitation_message(connection)
        elif reader is not None and self._is_for(reader):
            connection.open()
            message = self._message_to(reader, connection)
        if message is not None:
            message.send()
        self.delete()
        return message is not None

    @property
    def is_notice(self) -> bool:
        return self.letter in NOTICES.values()

    def send_notices(self, reader: User | None, connection: Any) -> bool:
        """Send all notices that are due for `reader` in one mail; False if there are none to send.

        Within `PAUSE` after the last mail, this notice is postponed instead. Raises what `send`
        raises.
        """
        if reader is None:
            self.delete()
            return False
        connection.open()
        collected = self._collect(reader)
        if collected is None:
            return False
        message, rows = collected
        message.connection = connection
        message.send()
        rows.delete()
        return True

    def _collect(self, reader: User) -> tuple[EmailMessage, models.QuerySet[Any]] | None:
        """The mail and the rows that it reports; None if there is nothing to send now.

        The account is locked, so that two senders do not report the same rows.
        """
        try:
            with reader.locked(by=None) as account:
                now = timezone.now()
                if account.noticed_at is not None and now < account.noticed_at + PAUSE:
                    Mail.objects.filter(pk=self.pk).update(due_at=account.noticed_at + PAUSE)
                    return None
                due = account.mails.due().filter(letter__in=NOTICES.values())
                ids = [self.pk, *due.values_list("pk", flat=True)]
                rows = Mail.objects.filter(pk__in=ids)
                wanted = [letter for event, letter in NOTICES.items() if account.wants(event)]
                present = account.memberships.filter(left_at=None)
                # They may have left since the notice was written.
                rows.exclude(letter__in=wanted, trip__in=present.values("trip")).delete()
                notices = list(rows.order_by("id"))
                if not notices:
                    return None
                # They are due again like this one if it cannot be sent.
                rows.exclude(pk=self.pk).update(due_at=now + RETRY_AFTER)
                account.noticed_at = now
                account.save(update_fields=["noticed_at"])
                return _message(account, notices), rows
        except NotFound:
            self.delete()
            return None

    def page(self) -> str:
        """The page of the front end that shows what the mail is about."""
        return page_of(self.trip_id or 0, self.expense_id)

    def _invitation_message(self, connection: Any) -> EmailMessage | None:
        """The message, with a new link; None if the invitation can no longer be accepted."""
        token = self.invitation.mail_token() if self.invitation else ""
        if not token:
            return None
        return self._written(url_of(self.letter, token), self.address, connection)

    def _reader(self) -> User | None:
        """The account that the mail is for, if it exists."""
        if self.letter == MailTemplate.RESET:
            return User.objects.with_email(self.address).first()
        return User.objects.active().filter(pk=self.user_id).first()

    def _is_for(self, reader: User) -> bool:
        """Whether `reader` may still get the mail and still needs it."""
        if not reader.is_active:
            return False
        if self.letter == MailTemplate.RESET:
            return reader.email_key == email_key(self.address)
        if self.letter == MailTemplate.VERIFY:
            return reader.email == self.address and reader.email_verified_at is None
        return True

    def _message_to(self, reader: User, connection: Any) -> EmailMessage | None:
        """The message, with a new link; None if it is no longer for `reader`."""
        try:
            with reader.locked(by=None) as account:
                return self._message(account, connection) if self._is_for(account) else None
        except NotFound:
            return None

    def _message(self, reader: User, connection: Any) -> EmailMessage:
        letter = MailTemplate(self.letter)
        url = url_of(letter, EmailToken.make(reader, letter)) if letter in PAGES else ""
        # A reset goes to the address as the account stores it, not as it was typed.
        address = reader.email or "" if letter == MailTemplate.RESET else self.address
        return self._written(url, address, connection)

    def _written(self, url: str, address: str, connection: Any) -> EmailMessage:
        with translation.override(self.language):
            subject, text = write(self.letter, url)
        headers = {"Auto-Submitted": "auto-generated"}
        return EmailMessage(subject, text, to=[address], headers=headers, connection=connection)

    def note(self, error: OSError) -> None:
        """Store and log why it could not be sent. It is due again after the pause."""
        self.error = _summary(error)
        Mail.objects.filter(pk=self.pk).update(error=self.error)
        logger.warning("%s %s was not sent: %s", self.letter, self.pk, self.error)

    def note_refusal(self, error: smtplib.SMTPRecipientsRefused) -> bool:
        """Like `note`, but give the mail up if the address was permanently refused; then True."""
        self.note(error)
        return _code(error) >= 500 and self.give_up(self.error)

    def give_up(self, reason: str) -> bool:
        """Stop trying, but keep the row for inspection; False if another process already has."""
        given_up = Mail.objects.waiting().filter(pk=self.pk)
        if not given_up.update(given_up_at=timezone.now(), error=reason):
            return False
        logger.error("%s %s was given up: %s", self.letter, self.pk, reason)
        return True


def _is_server_fault(error: OSError) -> bool:
    return isinstance(error, _SERVER_FAULTS) or not isinstance(error, smtplib.SMTPException)


def _code(error: OSError) -> int:
    """The SMTP status code of an error; 0 if it has none."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return min((code for code, _text in error.recipients.values()), default=0)
    return int(getattr(error, "smtp_code", 0))


def _summary(error: OSError) -> str:
    return f"{type(error).__name__} {_code(error) or ''}".strip()


def _message(account: User, notices: Iterable[Mail]) -> EmailMessage:
    url = account.unsubscribe_url()
    lines = [(MailTemplate(notice.letter), notice.page()) for notice in notices]
    with translation.override(account.notice_language):
        subject, text = write_notices(lines, url)
    headers = {
        "Auto-Submitted": "auto-generated",
        # RFC 8058: mail programs offer a button that sends a POST to it.
        "List-Unsubscribe": f"<{url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    return EmailMessage(subject, text, to=[account.email or ""], headers=headers)
