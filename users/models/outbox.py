"""The outbox: mails that wait to be sent.

A request inserts a row in its own transaction; `manage.py send_mail_queue` sends the mail and
deletes the row. The row stores what the mail is about. Its text, with the link, is rendered when
it is sent, so the outbox contains no secret. No request waits for a mail server, so the response
time does not reveal whether an address has an account.
"""

import logging
from datetime import timedelta
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy

from users.emails import MAX_EMAIL_CHARS
from users.mail_templates import MailTemplate, letters
from users.models.notices import current_language
from users.models.user import User, user_key

logger = logging.getLogger(__name__)

#: The pause doubles after each attempt. The first is longer than the mail time-out.
FIRST_PAUSE = timedelta(minutes=2)
LONGEST_PAUSE = timedelta(hours=1)
#: How many verification mails an account may cause in an hour, to all its addresses together.
VERIFY_MAILS_AN_HOUR = 5


class MailQuerySet(models.QuerySet["Mail"]):
    def waiting(self) -> "MailQuerySet":
        """Mails that were not given up, whether they are due or not."""
        return self.filter(given_up_at=None)

    def unsent(self) -> dict[str, int]:
        """How many mails were given up, and how many are waiting."""
        # Two statements, because each has an index of its own.
        given_up = self.filter(given_up_at__isnull=False).count()
        return {"given_up": given_up, "waiting": self.waiting().count()}

    def due(self) -> "MailQuerySet":
        """Mails to be sent now, the longest overdue first; not those of a newer release."""
        known = self.waiting().filter(letter__in=[name for name, _label in letters()])
        return known.filter(due_at__lte=timezone.now()).order_by("due_at", "id")

    def ask_for_reset(self, address: str) -> None:
        """Queue a password reset mail. The account is looked up when the mail is sent.

        So the response does not reveal whether the address has an account, not even by its timing.
        """
        self.create(letter=MailTemplate.RESET, address=address)

    def ask_to_verify(self, user: User) -> None:
        """Queue a mail that asks `user` to confirm their address, up to the hourly limit.

        Call it and `tell` inside `user.locked`, so that an emptied account gets no more mail.
        """
        hour_ago = timezone.now() - timedelta(hours=1)
        waiting = user.mails.waiting().filter(letter=MailTemplate.VERIFY).count()
        sent = user.links.filter(letter=MailTemplate.VERIFY, created_at__gt=hour_ago).count()
        if user.email and waiting + sent < VERIFY_MAILS_AN_HOUR:
            self.create(user=user, letter=MailTemplate.VERIFY, address=user.email)

    def tell(self, user: User, letter: str, address: str) -> None:
        """Queue a mail that notifies `user` at `address` of a change of the account."""
        self.create(user=user, letter=letter, address=address)


class Mail(models.Model):
    """A mail to send. A reset has an address only; its account is looked up when it is sent.

    A mail with a `link` of a plugin has no account either (`MailText`). All due notices of an
    account are sent in one mail. It contains links and no text that a user entered, so nobody can
    make the service send their words to somebody else.
    """

    #: What it is about. Whoever deletes it deletes its mails too, since nobody needs them.
    trip_id = models.BigIntegerField(null=True, db_index=True)
    expense_id = models.BigIntegerField(null=True, db_index=True)
    #: The row that the `link` of a mail is about. The database lets it name invitations only.
    object_id = models.BigIntegerField(null=True, db_index=True, db_column="invitation_id")
    user: Any = user_key("mails", null=True)
    letter = models.CharField(gettext_lazy("subject"), max_length=16, choices=letters)
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

    def note(self, error: str) -> None:
        """Store and log why it could not be sent. It is due again after the pause."""
        self.error = error
        Mail.objects.filter(pk=self.pk).update(error=error)
        logger.warning("%s %s was not sent: %s", self.letter, self.pk, error)

    def give_up(self, reason: str) -> bool:
        """Stop trying, but keep the row for inspection; False if another process already has."""
        given_up = Mail.objects.waiting().filter(pk=self.pk)
        if not given_up.update(given_up_at=timezone.now(), error=reason):
            return False
        logger.error("%s %s was given up: %s", self.letter, self.pk, reason)
        return True
