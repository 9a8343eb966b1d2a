"""What is kept of documents: guests, accounts that end, files of trips, reminders, other pages."""

from datetime import timedelta
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from plugins.attachments.models import Attachment
from plugins.attachments.tests.pictures import PDF
from plugins.documents.models import Document, DocumentFile
from plugins.documents.tests.conftest import attach, names, stored
from tests.factories import PASSWORD, add_guest
from tests.own_data import PATH, archived, own_data
from users.models import Mail, User

pytestmark = pytest.mark.either


def one(client, path):
    return client.get(path).json()


def test_files_go_with_a_guest_who_becomes_a_member(api, ask, trip, olga, ed, vera):
    path, guest = ask(), add_guest(trip)
    attach(api(ed), path, userId=guest.pk)
    merged = api(olga).post(f"/api/trips/{trip.pk}/guests/{guest.pk}/merge", {"userId": vera.pk})
    assert merged.status_code == 200
    assert names(one(api(ed), path)["missing"]) == ["Olga Owner", "Ed Editor"]


def test_an_account_that_ends_takes_its_files_along(api, ask, trip, olga, ed, vera, folder):
    path = ask()
    attach(api(vera), path)
    attach(api(ed), path, userId=vera.pk)
    attach(api(ed), path)
    assert api(vera).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert [file["by"]["id"] for file in one(api(olga), path)["attachments"]] == [ed.pk]
    assert DocumentFile.objects.count() == Attachment.objects.count() == 1
    [*_others, left, _gone, news] = one(api(olga), f"/api/trips/{trip.pk}/history")["items"][:3]
    assert "document" in {row["object"]["type"] for row in (left, _gone, news)}


def test_the_end_of_an_account_takes_as_many_statements_for_many_files(api, ask, ed, vera):
    def ends(user):
        with CaptureQueriesContext(connection) as asked:
            assert api(user).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
        return len(asked)

    path = ask()
    for user, files in ((ed, 1), (vera, 4)):
        for _file in range(files):
            attach(api(user), path)
    assert ends(vera) == ends(ed)


def test_an_account_that_ends_leaves_no_content(
    api, ask, vera, folder, django_capture_on_commit_callbacks
):
    attach(api(vera), ask())
    assert len(stored(folder)) == 1
    with django_capture_on_commit_callbacks(execute=True):
        api(vera).delete("/api/users/me", {"password": PASSWORD})
    assert stored(folder) == []


def test_a_person_gets_what_is_theirs(api, ask, ed, vera):
    path = ask()
    attach(api(vera), path)
    attach(api(ed), path, userId=vera.pk)
    found = own_data(vera)
    assert [row["document"] for row in found["documentFiles"]] == ["Copy of the passport"] * 2
    assert [row["name"] for row in found["attachments"]] == ["me.pdf"]
    assert found["documents"] == []
    assert [row["name"] for row in own_data(ed)["documents"]] == ["Copy of the passport"]


@archived
def test_an_archive_has_what_is_kept_for_its_owner(api, ask, ed, vera):
    other = attach(api(ed), ask(), userId=vera.pk).json()["id"]
    archive = api(vera).get(f"{PATH}?format=zip")
    content = b"".join(archive.streaming_content) if archive.streaming else archive.content
    with ZipFile(BytesIO(content)) as file:
        assert file.read(f"attachments/{other}.pdf") == PDF


def test_a_file_of_a_trip_brings_documents_and_tells_of_files(api, ask, trip, olga, ed, vera, sam):
    due = (timezone.now() + timedelta(days=30)).date()
    path = ask(dueOn=due.isoformat())
    ask(name="Insurance", wanted=2)
    api(ed).delete(ask(name="deleted"))
    attached = attach(api(vera), path).json()["id"]
    file = one(api(olga), f"/api/trips/{trip.pk}/export?format=json")
    assert [row["wanted"] for row in file["documents"]] == [None, 2]
    [row] = file["documentFiles"]
    assert (row["attachmentId"], row["personId"]) == (attached, vera.pk)
    planned = api(sam).post("/api/imports", file).json()
    made = api(sam).post(f"/api/imports/{planned['id']}/confirm").json()
    assert "tripId" in made, made
    first, second = one(api(sam), f"/api/trips/{made['tripId']}/documents")["items"]
    assert (first["count"], first["perMember"], first["dueOn"]) == ("0/4", True, due.isoformat())
    assert (second["name"], second["count"]) == ("Insurance", "0/2")
    assert Document.objects.get(pk=first["id"]).remind_at is not None


@pytest.mark.parametrize(
    "change", [{"wanted": 0}, {"wanted": "x"}, {"name": ""}, {"dueOn": "soon"}], ids=str
)
def test_a_file_that_lies_is_refused(api, ask, trip, olga, sam, change):
    ask()
    file = one(api(olga), f"/api/trips/{trip.pk}/export?format=json")
    file["documents"][0] |= change
    planned = api(sam).post("/api/imports", file)
    if planned.status_code == 201:
        planned = api(sam).post(f"/api/imports/{planned.json()['id']}/confirm")
    assert (planned.status_code, planned.json()["code"]) == (400, "unreadable")


# -- History, changes, mails, assistants and the admin site ----------------------------------------


def test_the_history_tells_what_happened(api, ask, trip, olga, ed, vera):
    path = ask()
    attach(api(vera), path)
    api(olga).patch(path, {"wanted": 2, "dueOn": "2030-05-01"})
    api(olga).delete(path)
    api(olga).post(f"{path}/restore")
    rows = one(api(ed), f"/api/trips/{trip.pk}/history")["items"][:5]
    assert [row["text"] for row in rows] == [
        "Olga Owner restored a document.",
        "Olga Owner deleted a document.",
        "Olga Owner changed how many are wanted and the due date of a document.",
        "Vera Viewer changed the attachments of a document.",
        "Ed Editor asked for a document.",
    ]
    assert rows[2]["changes"]["wanted"] == {"old": "members", "new": 2}
    spanish = (
        api(ed)
        .get(f"/api/trips/{trip.pk}/history", HTTP_ACCEPT_LANGUAGE="es")
        .json()["items"][4]["text"]
    )
    assert spanish == "Ed Editor pidió un documento."


def test_changes_show_the_document_as_it_is(api, ask, trip, ed, vera):
    cursor, path = one(api(ed), "/api/changes")["cursor"], ask()
    attach(api(vera), path)
    items = one(api(ed), f"/api/changes?since={cursor}")["items"]
    assert [row["object"]["type"] for row in items] == ["document"]
    assert items[0]["state"] == one(api(ed), path)


def want(event, *people):
    for user in people:
        User.objects.filter(pk=user.pk).update(
            notice_mode="each", notice_events=event, email_verified_at=user.created_at
        )


def test_members_who_want_it_get_a_mail_about_a_new_document(api, ask, ed, vera):
    want("document.created", vera, ed)
    ask()
    assert [(mail.user_id, mail.letter) for mail in Mail.objects.all()] == [
        (vera.pk, "DOCUMENT_CREATED")
    ]


def in_days(days):
    return timezone.now().date() + timedelta(days=days)


def test_those_who_have_not_are_reminded_once(api, ask, olga, ed, vera):
    want("document.due", olga, ed)
    path = ask(dueOn=in_days(2).isoformat())
    ask(name="Later", dueOn=in_days(5).isoformat())
    attach(api(ed), path)
    for _run in range(2):
        call_command("remind_documents")
    # Vera wants no mails.
    assert [(mail.user_id, mail.letter) for mail in Mail.objects.all()] == [
        (olga.pk, "DOCUMENT_DUE")
    ]
    Mail.objects.all().delete()
    call_command("remind_documents")
    assert not Mail.objects.exists()
    # Another day is another reason.
    api(ed).patch(path, {"name": "Passport"})
    call_command("remind_documents")
    assert not Mail.objects.exists()
    api(ed).patch(path, {"dueOn": in_days(1).isoformat()})
    call_command("remind_documents")
    assert Mail.objects.get().user_id == olga.pk


def test_whoever_asked_for_a_number_is_reminded_of_it(api, ask, olga, ed, vera):
    want("document.due", olga, ed, vera)
    done, open_one = (ask(wanted=1, dueOn=in_days(1).isoformat()) for _document in range(2))
    attach(api(vera), done)
    call_command("remind_documents")
    assert [mail.user_id for mail in Mail.objects.all()] == [ed.pk]


@pytest.mark.parametrize("what", ["past", "deleted", "trip", "none"])
def test_nobody_is_reminded_of_what_is_over(api, ask, trip, olga, ed, what):
    want("document.due", olga, ed)
    due = {"past": in_days(-1), "none": None}.get(what, in_days(1))
    path = ask(dueOn=due and due.isoformat())
    if what == "deleted":
        api(ed).delete(path)
    if what == "trip":
        api(olga).delete(f"/api/trips/{trip.pk}")
    call_command("remind_documents")
    assert not Mail.objects.exists()


def test_a_reminder_that_comes_too_late_is_none(api, ask, olga):
    want("document.due", olga)
    ask(dueOn=in_days(1).isoformat())
    Document.objects.update(due_on=in_days(-1))
    call_command("remind_documents")
    assert not Mail.objects.exists()
    assert Document.objects.get().remind_at is None


def test_a_reminder_that_fails_stops_no_other(api, ask, olga, monkeypatch):
    want("document.due", olga)
    broken = ask(dueOn=in_days(1).isoformat())
    ask(dueOn=in_days(1).isoformat())
    real = Document.missing.func

    def missing(self):
        if broken.endswith(f"/{self.pk}"):
            raise RuntimeError
        return real(self)

    monkeypatch.setattr(Document, "missing", property(missing))
    with pytest.raises(Exception, match="1 were postponed"):
        call_command("remind_documents")
    assert Mail.objects.count() == 1
    [row] = Document.objects.filter(remind_at__isnull=False)
    assert row.remind_at > timezone.now()


def test_assistants_ask_for_documents(api, trip, ed):
    def call(tool, **arguments):
        params = {"name": tool, "arguments": {"trip": trip.title, **arguments}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return api(ed).post("/api/mcp", body).json()["result"]

    made = call("ask_for_document", name="Visa", wanted="members")["structuredContent"]
    [found] = call("documents")["structuredContent"]["items"]
    assert (found["id"], found["count"]) == (made["id"], "0/3")
    assert call("ask_for_document", name="Visa", wanted="all")["isError"] is True


def test_the_admin_site_finds_what_is_due(api, ask, ada, client):
    ask(dueOn="2030-05-01")
    ask(name="Insurance", wanted=1)
    client.force_login(ada)
    page = client.get("/admin/documents/document/?wanted__isempty=1").content.decode()
    assert "Copy of the passport" in page
    assert "Insurance" not in page
