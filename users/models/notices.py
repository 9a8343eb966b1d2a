"""Notices by mail: what an account wants to hear of, and the mails that say it.

A notice is a row of the outbox, written in the transaction of its cause. A sender puts all notices
that are due for an account into one mail. A mail contains links and no text that a user typed, so
nobody can have the service deliver their words to somebody else.
"""

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage
from django.db import models
from django.db.models import Count
from django.utils import timezone, translation
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound

from users.mail_templates import NOTICES, Letter, page_of, write_notices

if TYPE_CHECKING:
    from users.models.user import User

#: Between two mails with notices to one account.
PAUSE = timedelta(minutes=5)
#: When the digest of a day is due (UTC).
DIGEST_AT = time(16)
#: How many notices may wait for an account; what happens beyond is not reported.
MAX_WAITING = 50

#: When notices that were collected for a mail are due again, if it could not be sent.
RETRY_AFTER = timedelta(minutes=10)

_ALL_EVENTS = " ".join(NOTICES)
_SALT = "users.notices"


def current_language() -> str:
    """The language of the current request or command."""
    return translation.get_language() or settings.LANGUAGE_CODE


class NoticeMode(models.TextChoices):
    """When an account gets mails about its trips."""

    OFF = "off", gettext_lazy("never")
    EACH = "each", gettext_lazy("at once")
    DAILY = "daily", gettext_lazy("once a day")


class Notices(NamedTuple):
    """What an account wants to be notified of."""

    #: A value of `NoticeMode`.
    email: str
    #: Keys of `NOTICES`.
    events: list[str]


class NoticeReader(models.Model):
    """Base of `User`: which notices the account gets, and in which language."""

    notice_mode = models.CharField(
        gettext_lazy("notices by mail"),
        max_length=5,
        choices=NoticeMode,
        default=NoticeMode.OFF,
        db_default=NoticeMode.OFF,
    )
    #: Keys of `NOTICES`, separated by spaces.
    notice_events = models.CharField(
        max_length=100, default=_ALL_EVENTS, db_default=_ALL_EVENTS, blank=True, editable=False
    )
    #: The language of the request that last set the above.
    notice_language = models.CharField(max_length=7, default="en", db_default="en", editable=False)
    #: When the last mail with notices was written.
    noticed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True

    @property
    def notices(self) -> Notices:
        return Notices(self.notice_mode, self.notice_events.split())

    @property
    def may_want_notices(self) -> bool:
        """Whether notices are on; `Mail.objects.notify` asks for the rest."""
        return self.notice_mode != NoticeMode.OFF

    def wants(self: Any, event: str) -> bool:
        """Whether the account gets mails about `event` now."""
        is_reachable = self.is_active and self.email_verified_at is not None
        return is_reachable and self.may_want_notices and event in self.notices.events

    def next_notice_at(self) -> datetime:
        """When a notice that is written now is due."""
        now = timezone.now()
        if self.notice_mode != NoticeMode.DAILY:
            return now
        digest = now.replace(hour=DIGEST_AT.hour, minute=0, second=0, microsecond=0)
        return digest if now < digest else digest + timedelta(days=1)

    def unsubscribe_url(self: Any) -> str:
        """The page that turns the notices of this account off, without a log-in."""
        return f"{settings.PUBLIC_URL}/unsubscribe?token={self._unsubscribe_token()}"

    def _unsubscribe_token(self: Any) -> str:
        return signing.dumps([self.pk, _fingerprint(self)], salt=_SALT)

    @classmethod
    def of_unsubscribe_token(cls: Any, token: str) -> "User":
        """The account of a token in a mail; raises `NotFound`.

        A token works until the address of the account changes, however often it is used.
        """
        try:
            pk, fingerprint = signing.loads(token, salt=_SALT)
        except signing.BadSignature as error:
            raise NotFound from error
        account = cls.objects.active().filter(pk=pk).first()
        if account is None or not constant_time_compare(fingerprint, _fingerprint(account)):
            raise NotFound
        return account

    def turn_off_notices(self: Any) -> None:
        """Send no more notices; what waits is deleted. Repeating it changes nothing."""
        with self.locked(by=None) as account:
            account.notice_mode = NoticeMode.OFF
            account.save(update_fields=["notice_mode"])
            account.mails.filter(letter__in=NOTICES.values()).delete()


def _fingerprint(account: Any) -> str:
    return salted_hmac(_SALT, account.email_key, algorithm="sha256").hexdigest()[:32]


def possible_readers(users: Iterable["User"]) -> set[int]:
    """The ids of those of `users` who have notices on; it takes no statement."""
    return {user.pk for user in users if user.may_want_notices}


def readers_of(event: str, users: models.QuerySet["User"]) -> models.QuerySet["User"]:
    """Those of `users` who want to be notified of `event` and have room for one more notice."""
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


class NoticeMail(models.Model):
    """Base of `Mail`: what a notice is about, and how notices are sent."""

    #: CASCADE: nobody needs to hear of what is gone.
    trip = models.ForeignKey("trips.Trip", on_delete=models.CASCADE, null=True, related_name="+")
    expense = models.ForeignKey(
        "splits.Expense", on_delete=models.CASCADE, null=True, related_name="+"
    )

    class Meta:
        abstract = True

    @property
    def is_notice(self: Any) -> bool:
        return self.letter in NOTICES.values()

    def send_notices(self: Any, reader: "User | None", connection: Any) -> bool:
        """Send all notices that are due for `reader` in one mail; False if there is none to send.

        Within `PAUSE` of the last one, this notice is postponed instead. Raises what `send` raises.
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

    def _collect(self: Any, reader: "User") -> tuple[EmailMessage, models.QuerySet[Any]] | None:
        """The mail and the rows that it reports; None if nothing is to be sent now.

        The account is locked, so that two senders do not report the same rows.
        """
        try:
            with reader.locked(by=None) as account:
                now = timezone.now()
                if account.noticed_at is not None and now < account.noticed_at + PAUSE:
                    type(self).objects.filter(pk=self.pk).update(due_at=account.noticed_at + PAUSE)
                    return None
                due = account.mails.due().filter(letter__in=NOTICES.values())
                ids = [self.pk, *due.values_list("pk", flat=True)]
                rows = type(self).objects.filter(pk__in=ids)
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

    def page(self: Any) -> str:
        """The page of the front end with what it is about."""
        return page_of(self.trip_id, self.expense_id)


def _message(account: "User", notices: Iterable[Any]) -> EmailMessage:
    url = account.unsubscribe_url()
    lines = [(Letter(notice.letter), notice.page()) for notice in notices]
    with translation.override(account.notice_language):
        subject, text = write_notices(lines, url)
    headers = {
        "Auto-Submitted": "auto-generated",
        # RFC 8058: mail programs offer a button that sends a POST to it.
        "List-Unsubscribe": f"<{url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    return EmailMessage(subject, text, to=[account.email or ""], headers=headers)
