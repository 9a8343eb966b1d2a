"""Attaching files to expenses and trips, reading and deleting them."""

import io
import json
import os
from datetime import timedelta
from io import BytesIO
from unittest.mock import patch
from zipfile import ZipFile

import pytest
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command
from django.utils import timezone
from PIL import Image
from rest_framework.exceptions import NotFound, PermissionDenied

from plugins.attachments.models import Attachment
from plugins.attachments.processing import process
from plugins.attachments.storage import discard
from plugins.attachments.tests.conftest import stored
from plugins.attachments.tests.pictures import PDF, picture, send
from plugins.attachments.tests.walked import FILE
from plugins.exchange.notes import text_of
from plugins.exchange.tests.conftest import send_form
from plugins.exchange.tests.samples import SPLITPRO_CSV
from splits.models import DeletedEntry
from tests.document import problem_of
from tests.factories import PASSWORD, owned_trip, spend
from tests.own_data import PATH, archived, own_data
from trips.models import JournalEntry, Member, Trip


def ids(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    return [row["id"] for row in answer.json()["items"]]


def test_a_picture_is_cleaned_and_then_shown(attach, api, olga, folder):
    sent = picture(size=(640, 400))
    made = attach(sent, "Taxi 1.JPG")
    path = f"/api/attachments/{made['id']}"
    assert made | {"createdAt": "", "by": olga.pk} == {
        "id": made["id"],
        "name": "Taxi 1.JPG",
        "type": "image/jpeg",
        "bytes": len(sent),
        "state": "processing",
        "by": olga.pk,
        "createdAt": "",
        "url": f"{path}/content",
        "thumbnailUrl": None,
    }
    client = api(olga)
    assert client.get(made["url"]).json()["code"] == "still_processing"
    assert client.get(f"{path}/thumbnail").status_code == 404
    [original] = stored(folder)

    assert process()

    assert not original.exists()
    shown = client.get(path).json()
    assert (shown["state"], shown["thumbnailUrl"]) == ("ready", f"{path}/thumbnail")
    answer = client.get(made["url"])
    assert len(answer.content) == shown["bytes"]
    image = Image.open(io.BytesIO(answer.content))
    # Upright: what was on the left is above.
    assert (image.size, image.getpixel((10, 10))[1] < 50, image.getpixel((10, 630))[1] > 200) == (
        *((400, 640), True, True),
    )
    assert not image.getexif()
    assert b"Exif" not in answer.content
    answer = client.get(shown["thumbnailUrl"])
    # The development server sends nothing else.
    assert type(answer["Content-Type"]) is str
    thumbnail = Image.open(io.BytesIO(answer.content))
    assert (thumbnail.format, thumbnail.size) == ("JPEG", (300, 480))
    assert len(stored(folder)) == 2


def test_a_download_can_do_nothing_in_a_browser(attach, api, olga):
    made = attach(PDF, "../../Café\u202e.html")
    assert (made["state"], made["type"], made["name"]) == ("ready", "application/pdf", "Café.html")
    answer = api(olga).get(made["url"], headers={"Accept": "text/html,*/*"})
    assert answer.content == PDF
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Disposition"] == "attachment; filename*=utf-8''Caf%C3%A9.pdf"
    policy = "sandbox; default-src 'none'; frame-ancestors 'none'"
    assert answer["Content-Security-Policy"] == policy
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("kind", "becomes"), [("JPEG", "JPEG"), ("PNG", "PNG"), ("WEBP", "WEBP"), ("HEIF", "JPEG")]
)
def test_every_type_loses_its_metadata(kind, becomes, attach, api, olga):
    if kind == "HEIF":
        pytest.importorskip("pillow_heif").register_heif_opener()
    made = attach(picture(kind, comment=b"my street", icc_profile=b"my street"))
    process()
    answer = api(olga).get(made["url"])
    assert answer.status_code == 200, answer.content
    assert b"my street" not in answer.content
    image = Image.open(io.BytesIO(answer.content))
    assert image.format == becomes
    assert not image.getexif()
    assert "exif" not in image.info
    assert answer["Content-Type"] == api(olga).get(f"/api/attachments/{made['id']}").json()["type"]


def test_a_trip_lists_only_what_is_of_no_expense(attach, api, trip, dinner, ed):
    receipt, client = attach(PDF)["id"], api(ed)
    path = f"/api/trips/{trip.pk}/attachments"
    answer = send(client, path, PDF, "tickets.pdf")
    assert answer["Location"] == f"/api/attachments/{answer.json()['id']}"
    assert ids(client, path) == [answer.json()["id"]]
    assert ids(client, f"/api/expenses/{dinner.pk}/attachments") == [receipt]


def test_a_deleted_one_is_gone_with_its_files(
    attach, api, olga, folder, django_capture_on_commit_callbacks
):
    made = attach(picture())
    process()
    with django_capture_on_commit_callbacks(execute=True):
        assert api(olga).delete(f"/api/attachments/{made['id']}").status_code == 204
    assert api(olga).get(made["url"]).status_code == 404
    assert stored(folder) == []


class DeletedMeanwhile(FileSystemStorage):
    """Another request deletes every attachment right before a file is opened."""

    def _open(self, name, mode="rb"):
        Attachment.objects.all().delete()
        self.delete(name)
        return super()._open(name, mode)


def test_one_that_is_deleted_while_it_is_read_is_not_found(attach, api, olga, folder, settings):
    made = attach(PDF)
    backend = f"{__name__}.{DeletedMeanwhile.__name__}"
    store = {"BACKEND": backend, "OPTIONS": {"location": str(folder)}}
    settings.STORAGES = {**settings.STORAGES, "attachments": store}
    assert api(olga).get(made["url"]).status_code == 404


def test_a_refused_upload_leaves_no_file(api, olga, sam, dinner, folder, settings):
    """T201: A file is recognised by its content, and a refused one leaves nothing."""
    path = f"/api/expenses/{dinner.pk}/attachments"
    settings.QUOTA_ATTACHMENTS = 1
    assert send(api(olga), path, PDF).status_code == 201
    assert send(api(olga), path, PDF).json()["code"] == "quota_exceeded"
    assert send(api(sam), path, PDF).status_code == 404
    assert len(stored(folder)) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("QUOTA_ATTACHMENTS", 2), ("QUOTA_ATTACHMENT_MB", 1)),
        *(("QUOTA_ACCOUNT_ATTACHMENTS", 2), ("QUOTA_ACCOUNT_ATTACHMENT_MB", 1)),
    ],
)
def test_quotas_count_files_and_bytes(name, value, api, olga, dinner, settings):
    setattr(settings, name, value)
    whole = PDF + b"\n" * (512 * 1024 - len(PDF))
    path, client = f"/api/expenses/{dinner.pk}/attachments", api(olga)
    assert [send(client, path, whole).status_code for _turn in range(3)] == [201, 201, 409]


def test_a_quota_is_that_of_the_whole_trip_or_of_the_account_in_all_trips(
    api, trip, olga, ed, dinner, settings
):
    other = owned_trip(olga)
    of_trip, of_other = (f"/api/trips/{one.pk}/attachments" for one in (trip, other))
    of_dinner = f"/api/expenses/{dinner.pk}/attachments"
    settings.QUOTA_ATTACHMENTS = 2
    assert send(api(olga), of_dinner, PDF).status_code == 201
    assert send(api(ed), of_trip, PDF).status_code == 201
    for who, path in ((olga, of_trip), (ed, of_trip), (olga, of_dinner)):
        assert send(api(who), path, PDF).status_code == 409
    assert send(api(olga), of_other, PDF).status_code == 201
    settings.QUOTA_ATTACHMENTS, settings.QUOTA_ACCOUNT_ATTACHMENTS = 10, 2
    for path in (of_other, of_trip):
        assert send(api(olga), path, PDF).status_code == 409
    assert send(api(ed), of_trip, PDF).status_code == 201


def test_who_was_removed_downloads_nothing_any_more(attach, api, ed):
    made = attach(PDF)
    assert api(ed).get(made["url"]).status_code == 200
    Member.objects.filter(user=ed).update(left_at=timezone.now())
    for path in (made["url"], f"/api/attachments/{made['id']}"):
        assert api(ed).get(path).status_code == 404


def test_a_repeated_upload_is_stored_once(api, olga, dinner, folder):
    path, client = f"/api/expenses/{dinner.pk}/attachments", api(olga)
    key = {"headers": {"Idempotency-Key": "one"}}
    first, second = (send(client, path, PDF, **key) for _turn in range(2))
    assert (second.json(), second["Idempotency-Replayed"]) == (first.json(), "true")
    for content, name in ((PDF + b"\n", "taxi.jpg"), (PDF, "hotel.jpg")):
        problem_of(send(client, path, content, name, **key), 422, "idempotency_mismatch")
    assert len(stored(folder)) == 1


def test_attachments_share_the_fate_of_their_expense(attach, api, olga, trip, dinner, folder):
    made, client = attach(PDF), api(olga)
    path, files = f"/api/trips/{trip.pk}/expenses/{dinner.pk}", stored(folder)
    assert client.delete(path).status_code == 204
    assert client.get(made["url"]).status_code == 404
    assert client.delete(f"/api/attachments/{made['id']}").status_code == 404
    call_command("prune")
    assert client.post(f"{path}/restore").status_code == 200
    assert client.get(made["url"]).status_code == 200

    client.delete(path)
    DeletedEntry.objects.update(deleted_at=timezone.now() - timedelta(days=31))
    call_command("prune")
    assert not Attachment.objects.exists()
    assert stored(folder) == files
    age(files)
    call_command("prune", dry_run=True)
    assert stored(folder) == files
    call_command("prune")
    assert stored(folder) == []


def age(files):
    """Make files two days old."""
    then = (timezone.now() - timedelta(days=2)).timestamp()
    for file in files:
        os.utime(file, (then, then))


def test_a_file_with_a_row_is_never_swept(attach, folder):
    attach(picture())
    process()
    attach(picture())
    age(stored(folder))
    call_command("prune")
    assert len(stored(folder)) == 3


def test_the_history_says_it(attach, api, olga, trip, dinner):
    made = attach(PDF)
    [row] = JournalEntry.objects.filter(event="expense.changed")
    assert (row.expense_id, row.changes) == (
        dinner.pk,
        {"attachments": {"old": None, "new": made["id"]}},
    )
    history = api(olga).get(f"/api/trips/{trip.pk}/history").json()["items"]
    assert history[0]["text"] == "Olga Owner changed the attachments in “Dinner”."


def test_an_import_with_an_attachment_is_not_undone(api, olga, trip):
    client = api(olga)
    done = send_form(client, SPLITPRO_CSV.encode(), currency="EUR", tripId=trip.pk).json()["id"]
    assert client.post(f"/api/imports/{done}/confirm").status_code == 200
    expense = trip.expenses.first()
    assert send(client, f"/api/expenses/{expense.pk}/attachments", PDF).status_code == 201
    assert client.post(f"/api/imports/{done}/undo").json()["code"] == "changed_since"


def test_an_export_lists_attachments_and_says_that_files_are_left_out(
    attach, api, olga, trip, dinner
):
    made, client = attach(PDF), api(olga)
    gone = spend(trip, 100, paid_by=olga, among=[olga])
    send(client, f"/api/expenses/{gone.pk}/attachments", PDF)
    gone.remove(by=olga)
    answer = client.get(f"/api/trips/{trip.pk}/export")
    [row] = answer.json()["attachments"]
    assert (row["id"], row["expenseId"], row["createdById"]) == (made["id"], dinner.pk, olga.pk)
    assert not {"file", "thumbnail"} & row.keys()
    plan = send_form(client, answer.content, asNewTrip=True)
    assert text_of("files_left_out", []) in plan.json()["notes"]
    [own] = own_data(olga)["attachments"][:1]
    assert (own["id"], own["tripId"]) == (made["id"], trip.pk)


def test_who_was_removed_while_the_file_was_stored_attaches_nothing(trip, olga, ed, dinner):
    drafts = [
        Attachment(trip=trip, expense=expense, created_by=ed, **FILE) for expense in (None, dinner)
    ]
    trip.members.filter(user=ed).update(left_at=timezone.now())
    for draft in drafts:
        with pytest.raises(NotFound):
            draft.add()
    trip.members.filter(user=ed).update(left_at=None, role="VIEWER")
    for draft in drafts:
        with pytest.raises(PermissionDenied):
            draft.add()
    assert not Attachment.objects.exists()


def test_administrators_see_only_thumbnails(attach, ada, olga, client):
    attach(picture())
    process()
    row = Attachment.objects.get()
    page = f"/admin/attachments/attachment/{row.pk}"
    assert client.get(f"{page}/thumbnail/").status_code == 302
    client.force_login(ada)
    shown = client.get(f"{page}/change/").content.decode()
    assert f'src="{page}/thumbnail/"' in shown
    assert row.url not in shown
    answer = client.get(f"{page}/thumbnail/")
    assert answer["Content-Type"] == "image/jpeg"
    assert answer.getvalue().startswith(b"\xff\xd8")
    assert client.get(f"{page[:-1]}999/thumbnail/").status_code in {302, 404}
    # As at the end of a request, but without closing the connection of the test.
    with patch("django.core.signals.request_finished.send"):
        answer.close()


def test_files_of_a_deleted_account_stay(api, ed, olga, trip, folder):
    made = send(api(ed), f"/api/trips/{trip.pk}/attachments", PDF).json()
    assert api(ed).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert api(olga).get(f"/api/attachments/{made['id']}").json()["by"]["name"] == "Deleted user"
    assert api(olga).get(made["url"]).status_code == 200


def test_a_purged_trip_takes_its_files_along(attach, trip, olga, folder):
    attach(PDF)
    trip.remove(by=olga)
    Trip.objects.update(deleted_at=timezone.now() - timedelta(days=9))
    age(stored(folder))
    call_command("prune")
    assert not Trip.objects.exists()
    assert stored(folder) == []


def test_uploads_are_throttled(api, olga, dinner, limits):
    limits(upload="1/hour")
    path, client = f"/api/expenses/{dinner.pk}/attachments", api(olga)
    assert [send(client, path, PDF).status_code for _turn in range(2)] == [201, 429]


@archived
def test_an_archive_has_ones_own_files(api, trip, olga, ed):
    client = api(ed)
    for user in (ed, olga):
        assert send(api(user), f"/api/trips/{trip.pk}/attachments", PDF).status_code == 201
    own = Attachment.objects.get(created_by=ed)
    response = client.get(PATH, headers={"accept": "application/zip"})
    assert response["Content-Type"] == "application/zip"
    with ZipFile(BytesIO(response.content)) as archive:
        assert archive.testzip() is None
        files = [name for name in archive.namelist() if name.startswith("attachments/")]
        assert files == [f"attachments/{own.pk}.pdf"]
        assert archive.read(files[0]) == PDF
        assert json.loads(archive.read("account.json")) == client.get(PATH).json()
    discard(own.file)
    answer = client.get(f"{PATH}?format=zip")
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
