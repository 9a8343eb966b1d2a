"""How far a client has read the journals of its trips, as a signed text.

Rows are numbered in each trip, under its lock. A single position for all trips would lose rows,
because transactions of different trips do not end in the order in which they began.
"""

from binascii import crc32
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple, Self

from django.core import signing
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, ValidationError

from splits.models.in_trip import added_rows
from trips.models.events import sees, trip_objects
from users.models import User

_SALT = "splits.changes"
_LIFETIME = timedelta(days=30)
#: Cursors of an older version count as expired.
_VERSION = 1
#: How many places of `Cursor.reader` do not depend on plugins.
_RIGHTS = 3


class CursorExpired(APIException):
    """410 `cursor_expired`: the cursor is too old; read everything again, with a new one."""

    status_code = 410
    default_code = "cursor_expired"
    default_detail = gettext_lazy("The cursor has expired. Please read everything again.")


@cache
def others() -> list[str]:
    """Further types of plugins, in an order that stays when there are more of them."""
    known = {"trip", "member", "expense", "split", "settlement"}
    known |= {rows.kind for rows in added_rows().values()}
    return sorted(trip_objects().keys() - known, key=lambda kind: crc32(kind.encode()))


class Delivery(NamedTuple):
    """The delivery of a trip, or of its expenses, which takes several pages, and its progress."""

    trip_id: int
    #: Why they are sent.
    event: str
    #: Of `plugins.sync.delivery.Stage`.
    stage: int
    #: Whether the stages after that of the expenses follow.
    is_whole: bool
    #: The key of what was sent last in this stage. What its two parts mean depends on the stage.
    after: int = 0
    then: int = 0


class Partial(NamedTuple):
    """The row after the position of this trip was sent up to the object with this key."""

    trip_id: int
    key: int


@dataclass
class Cursor:
    """Positions in journals. It moves as changes are read; `text` is what clients get."""

    #: The reader and their rights: the user's id, whether they see expenses, the trip to which
    #: their token is confined, and the other types of objects that it does not see.
    reader: list[Any]
    #: The number of the last row that was read, by trip.
    positions: dict[int, int] = field(default_factory=dict)
    delivery: Delivery | None = None
    partial: Partial | None = None

    @classmethod
    def of(cls, user: User) -> Self:
        """A cursor without positions."""
        hidden = [kind for kind in others() if not sees(user, kind)]
        return cls([user.pk, sees(user, "expense"), user.confined_to or 0, *hidden])

    @classmethod
    def read(cls, text: str, user: User) -> Self:
        """The cursor in `text`.

        Raises `CursorExpired`, and `ValidationError` if it is not a cursor, or one of another user
        or of a token with other rights.
        """
        cursor = cls.of(user)
        try:
            version, *stored = signing.loads(text, salt=_SALT, max_age=_LIFETIME)
        except signing.SignatureExpired as error:
            raise CursorExpired from error
        except signing.BadSignature as error:
            raise ValidationError({"since": [_("This is not a cursor.")]}) from error
        if version != _VERSION:
            raise CursorExpired
        reader, distances, delivery, partial = stored
        if reader[:_RIGHTS] != cursor.reader[:_RIGHTS]:
            text = _("This cursor is for another account, or for a token with other rights.")
            raise ValidationError({"since": [text]})
        if reader != cursor.reader:  # a plugin was added
            raise CursorExpired
        trip_id = 0
        for distance, number in zip(distances[::2], distances[1::2], strict=True):
            trip_id += distance
            cursor.positions[trip_id] = number
        cursor.delivery = Delivery(*delivery) if delivery else None
        cursor.partial = Partial(*partial) if partial else None
        return cursor

    def text(self) -> str:
        """The cursor as a text that is short enough for a URL, even for a thousand trips."""
        distances, before = [], 0
        for trip_id, number in sorted(self.positions.items()):
            distances += [trip_id - before, number]
            before = trip_id
        stored = [_VERSION, self.reader, distances, self.delivery, self.partial]
        return signing.dumps(stored, salt=_SALT, compress=True)

    def forget(self, trip_id: int) -> None:
        """Forget a trip that the reader no longer sees."""
        self.positions.pop(trip_id, None)
        if self.delivery is not None and self.delivery.trip_id == trip_id:
            self.delivery = None
        if self.partial is not None and self.partial.trip_id == trip_id:
            self.partial = None
