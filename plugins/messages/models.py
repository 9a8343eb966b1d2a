"""Messages of a trip, and how far each member has read them."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db import models
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.dispatch import receiver
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from plugins.messages.rights import CanMessage
from plugins.restorable import Restorable, RestorableQuerySet, author_column, time_column
from trips.models import InTripQuerySet, Trip, trip_key
from trips.models.client_ids import ClientId, ClientNamed
from trips.models.journal import Entry, JournalEntry, as_text, write
from trips.signals import author_replaced
from users.models import User, user_key

MAX_MESSAGE_CHARS = 2000
EVENTS = [f"message.{word}" for word in ("created", "changed", "deleted", "restored")]
CREATED, CHANGED, *_ENDINGS = EVENTS


class Message(ClientNamed, Restorable):
    """What a member wrote to the others. The text is empty once the account is deleted."""

    kind = "message"
    limit = 20_000
    added_by, changed_by = CanMessage.WRITE, CanMessage.CHANGE
    deleted_by = CanMessage.DELETE

    trip = trip_key("messages", db_index=False)
    created_by = author_column(gettext_lazy("written by"))
    text = models.TextField(gettext_lazy("text"), max_length=MAX_MESSAGE_CHARS)
    #: Stays after that message is deleted for good.
    reply_to = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="+",
        verbose_name=gettext_lazy("reply to"),
    )
    created_at = time_column(gettext_lazy("created at"), db_index=True)

    objects = RestorableQuerySet["Message"].as_manager()

    class Meta:
        verbose_name = gettext_lazy("message")
        verbose_name_plural = gettext_lazy("messages")
        indexes: ClassVar = [
            # A count of those of others reads the index alone.
            models.Index(
                fields=["trip", "id"],
                include=["created_by"],
                condition=Q(deleted_at=None),
                name="message_newest",
            )
        ]

    def assign(self, **fields: Any) -> None:
        """Set these fields. Raises `ValidationError` on `replyTo`."""
        super().assign(**fields)
        replied = Message.objects.kept().filter(trip=self.trip, pk=self.reply_to_id)
        if "reply_to_id" in fields and self.reply_to_id is not None and not replied.exists():
            raise ValidationError({"replyTo": [_("There is no such message in the trip.")]})


class ReadMark(models.Model):
    """The newest message that a member has read. It only moves forward, without the trip's lock."""

    trip = trip_key("read_marks", db_index=False)
    user = user_key("+")
    message_id = models.BigIntegerField(gettext_lazy("message"))
    unread: int | None = None

    objects = InTripQuerySet["ReadMark"].as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["trip", "user"], name="one_read_mark_in_trip")
        ]

    def __str__(self) -> str:
        return f"#{self.message_id}"

    @classmethod
    def move(cls, trip_id: int, user_ids: Iterable[int], message_id: int) -> None:
        """Note that these people have read a message and all before it."""
        marks: list[Any] = [
            cls(trip_id=trip_id, user_id=pk, message_id=message_id) for pk in user_ids
        ]
        cls.objects.bulk_create(marks, ignore_conflicts=True)
        older = cls.objects.filter(trip=trip_id, user__in=[mark.user_id for mark in marks])
        older.filter(message_id__lt=message_id).update(message_id=message_id)

    @classmethod
    def read(cls, trip: Trip, by: User, message_id: int) -> None:
        """Note that `by` has read this message. Raises `ValidationError` on `messageId`."""
        if not trip.messages.filter(pk=message_id).exists():
            raise ValidationError({"messageId": [_("There is no such message in the trip.")]})
        cls.move(trip.pk, [by.pk], message_id)


def unread_by(user: Any, key: str = "pk") -> Any:
    """How many messages of others a reader has not read; `key` is where the row has the trip."""
    trip = OuterRef(key)
    marks = ReadMark.objects.filter(trip=OuterRef(trip), user=user).values("message_id")
    newer = Message.objects.kept().filter(trip=trip, pk__gt=Coalesce(Subquery(marks[:1]), 0))
    counted = newer.exclude(created_by=user).order_by().values("trip").annotate(count=Count("pk"))
    return Coalesce(Subquery(counted.values("count")), 0)


def finish_imported(trip: Trip) -> None:
    """Nobody has to read again what a file brought."""
    last = trip.messages.order_by("pk").last()
    if last is not None:
        ReadMark.move(trip.pk, trip.members.values_list("user", flat=True), last.pk)


@receiver(author_replaced)
def give_read_mark(trip: Trip, user_id: int, to: int, **_about: object) -> None:
    """The person `to` has read what either of them had read."""
    for mark in trip.read_marks.filter(user=user_id):
        ReadMark.move(trip.pk, [to], mark.message_id)
        mark.delete()


def written_by(account: User) -> list[QuerySet[Any]]:
    """The messages of an account, and the rows of the journal about those that are gone."""
    gone = JournalEntry.objects.filter(by=account, event=CREATED)
    return [Message.objects.filter(created_by=account), gone]


def forget_messages_of(account: User, by: User | None) -> None:
    """Empty all messages of an account, also in the journal, under the locks of their trips.

    The messages stay, so that replies keep their place.
    """
    ReadMark.objects.filter(user=account).delete()
    stored, gone = written_by(account)
    for trip_id in {pk for rows in (stored, gone) for pk in rows.values_list("trip", flat=True)}:
        here, old = stored.filter(trip=trip_id), gone.filter(trip=trip_id)
        emptied = list(here.exclude(text="").filter(deleted_at=None).values_list("pk", flat=True))
        here.update(text="")
        ClientId.forget(here)
        own = Q(object_id__in=here.values("pk")) | Q(object_id__in=old.values("object_id"))
        rows = JournalEntry.objects.filter(own, trip=trip_id, event__in=EVENTS)
        # They tell the text only. One by one, 10,000 of them would take seconds.
        rows.update(stored_changes=as_text({"text": {"old": None, "new": None}}))
        entries = (Entry(CHANGED, pk, {"text": (None, "")}) for pk in sorted(emptied))
        write(trip_id, by, *entries, is_limited=False)
