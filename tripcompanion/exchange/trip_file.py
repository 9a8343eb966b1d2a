"""A trip as a file in our own format: everything, so that it can be imported without loss."""

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from django.db.models import QuerySet
from django.utils import timezone

from splits.models import Comment, Expense, Settlement
from tripcompanion.api.rendering import ExactJSONRenderer, written_file
from tripcompanion.attachments.models import Attachment
from tripcompanion.exchange.formats.trip_companion import FORMAT, VERSION
from tripcompanion.exchange.tables import ATTACHMENTS, TABLES, trip_row
from tripcompanion.recurring.models import Recurrence
from trips.models import JournalEntry, Member, Trip
from users.models import User

#: How many people are looked up at a time.
_CHUNK_PEOPLE = 500

_render = ExactJSONRenderer().render


def json_file(trip: Trip) -> IO[bytes]:
    """A temporary file with the trip as JSON, ready to be read. Call it in a snapshot.

    It shows e-mail addresses to the reader of the response; see `User.shown_email`.
    """
    return written_file(lambda file: write_json(trip, file.write))


def write_json(trip: Trip, write: Callable[[bytes], Any]) -> None:
    """Write the trip as JSON, a row at a time."""
    head = {"format": FORMAT, "version": VERSION, "exportedAt": timezone.now()}
    write(_render({**head, "trip": trip_row(trip)})[:-1])
    tables = ((table.name, table.rows(trip)) for table in (*TABLES, ATTACHMENTS))
    for name, rows in (("people", _people(trip)), *tables):
        write(b',"%s":' % name.encode())
        _write_array(rows, write)
    write(b"}")


def _write_array(rows: Iterable[Any], write: Callable[[bytes], Any]) -> None:
    before = b"["
    for row in rows:
        write(before + _render(row))
        before = b",\n"
    write(b"]" if before != b"[" else b"[]")


def _people(trip: Trip) -> Iterator[dict[str, Any]]:
    """Everybody whom a row of the trip names: present and former members, and administrators."""
    named: QuerySet[Any, Any] = Member.objects.filter(trip=trip).order_by().values_list("user")
    others = [
        JournalEntry.objects.filter(trip=trip.pk, by__isnull=False).values_list("by"),
        *(
            model._default_manager.filter(trip=trip.pk).values_list("created_by")
            for model in (Expense, Settlement, Comment, Attachment, Recurrence)
        ),
    ]
    ids = sorted(pk for (pk,) in named.union(*(rows.order_by() for rows in others)))
    for first in range(0, len(ids), _CHUNK_PEOPLE):
        found = User.objects.filter(pk__in=ids[first : first + _CHUNK_PEOPLE])
        for user in found.order_by("pk"):
            yield {
                "id": user.pk,
                "name": user.shown_name,
                "email": user.shown_email,
                "guest": user.is_guest,
            }
