"""What the tests that walk all apps need to know of attachments; see `tests/walked.py`."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from plugins.attachments.models import Attachment, State
from plugins.attachments.recognition import Kind
from plugins.attachments.rights import CanAttach
from plugins.attachments.storage import keep
from plugins.attachments.views import AttachmentViewSet, TripAttachmentViewSet
from tests.factories import acting_as_owner
from tests.trips.access import PROMISED as CORE
from tests.trips.access import TRIP, Row
from trips.roles import Can

#: What an attachment needs besides trip and uploader.
FILE = {"name": "taxi.jpg", "type": Kind.JPEG, "size_bytes": 1, "file": "-"}
OF_EXPENSE = "/api/expenses/{expense_id}/attachments"
OF_TRIP = f"{TRIP}/attachments"
ATTACHMENT = "/api/attachments/{attachment_id}"
FORM = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("bill.pdf", b"%PDF-1.7\n")})


def form(_scene: Any) -> bytes:
    """A form with a file."""
    return FORM


ROWS = [
    *(Row("GET", path, can=Can.READ) for path in (OF_EXPENSE, OF_TRIP)),
    Row("POST", OF_EXPENSE, 201, CanAttach.ATTACH, form),
    Row("POST", OF_TRIP, 201, CanAttach.ATTACH, form, statuses={"viewer": 403}),
    *(Row("GET", ATTACHMENT + end, can=Can.READ) for end in ("", "/content", "/thumbnail")),
    Row("DELETE", ATTACHMENT, 204, CanAttach.DELETE),
]
PROMISED = {
    CanAttach.ATTACH: tuple(one.replace("none", "own") for one in CORE[Can.RECORD]),
    CanAttach.DELETE: CORE[Can.SETTLE],
}
SCOPES_OF = dict.fromkeys(CanAttach, "expenses:write")
AREAS = {AttachmentViewSet: "expenses", TripAttachmentViewSet: "expenses"}
WRITTEN = {
    f"POST {OF_EXPENSE}": ["expense.changed"],
    f"POST {OF_TRIP}": ["trip.changed"],
    f"DELETE {ATTACHMENT}": ["trip.changed"],
}
#: They send forms; see `test_attachments.py`.
WAIT_ELSEWHERE = {("POST", OF_TRIP), ("POST", OF_EXPENSE), ("DELETE", ATTACHMENT)}
QUERIES = {
    OF_EXPENSE: 4,
    OF_TRIP: 4,
    ATTACHMENT: 2,
    f"{ATTACHMENT}/content": 2,
    f"{ATTACHMENT}/thumbnail": 2,
}
VIOLATIONS = [
    ("attachment_has_file", "attachment", {"file": ""}),
    ("attachment_of_one_object", "attachment", {"expense_id": 1, "parent_type": "document"}),
]
#: Of their own rows; they lock no trip.
#: Paths that take longer bodies than others.
LARGE_BODIES = ["/api/expenses/1/attachments", "/api/trips/1/attachments"]
LOCKS = ["plugins/attachments/models.py"]
PRUNED = ["attachments of deleted expenses", "files without an attachment"]
#: Few, compared with the files in the storage.
READ_WHOLE = ["attachments_attachment"]
LISTS = {OF_EXPENSE, OF_TRIP}
#: What is the same in the Spanish admin site.
DATA = [r"taxi\.jpg", "HEIC|JPEG|WebP|DOCX|XLSX|PPTX|iCalendar"]
SINGLE = {ATTACHMENT, f"{ATTACHMENT}/content", f"{ATTACHMENT}/thumbnail"}


def ids(scene: Any, names: list[str]) -> dict[str, int]:
    """A picture with a thumbnail that `holder` has attached to the trip."""
    if "attachment_id" not in names:
        return {}
    with acting_as_owner(scene.trip, scene.holder):
        row = Attachment(trip=scene.trip, created_by=scene.holder, **FILE)
        row.add()
    file, thumbnail = keep(io.BytesIO(b"x")), keep(io.BytesIO(b"x"))
    Attachment.objects.update(state=State.READY, file=file, thumbnail=thumbnail)
    return {"attachment_id": row.pk}


def fill_world(world: Any) -> None:
    """A file that can be read, and so can its thumbnail."""
    url = f"/api/expenses/{world.ids['expenseId']}/attachments"
    made = world.client.post(url, FORM, content_type=MULTIPART_CONTENT).json()["id"]
    Attachment.objects.filter(pk=made).update(thumbnail=keep(io.BytesIO(b"x")))
    world.ids["attachmentId"] = made


def many(trip: Any, _olga: Any, people: list[Any], expense: Any) -> dict[str, int]:
    for of in (None, expense):
        # Each by another, so that a query for each author would be seen.
        for user in people:
            ready = {"state": "ready", "file": "aa/none", "thumbnail": "aa/none"}
            attachment = Attachment.objects.create(
                trip=trip, expense=of, created_by=user, **FILE | ready
            )
    file = keep(io.BytesIO(b"x"))
    Attachment.objects.filter(pk=attachment.pk).update(file=file, thumbnail=file)
    return {"attachment_id": attachment.pk}


def one_of_each(trip: Any, _olga: Any, user: Any, expense: Any) -> None:
    row = FILE | {"thumbnail": "-"}
    Attachment.objects.create(trip=trip, expense=expense, created_by=user, **row)


def lengthen(text: str) -> None:
    Attachment.objects.update(name=text[:255])


def constrained(trip: Any, olga: Any) -> dict[str, Any]:
    row = Attachment.objects.create(trip=trip, created_by=olga, **FILE)
    return {"attachment": Attachment.objects.filter(pk=row.pk)}


@contextmanager
def writing_to(folder: str) -> Iterator[None]:
    """Store files in a folder, also those of servers and commands."""
    store = {**settings.STORAGES["attachments"], "OPTIONS": {"location": folder}}
    with (
        override_settings(STORAGES={**settings.STORAGES, "attachments": store}),
        patch.dict(os.environ, ATTACHMENTS_STORE=folder),
    ):
        yield
