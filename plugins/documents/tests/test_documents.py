"""Documents: who is asked for what, who has brought it, and what may be attached by whom."""

import pytest
from django.core.management import call_command
from django.utils import timezone

from plugins.attachments.models import Attachment
from plugins.attachments.tests.pictures import PDF
from plugins.documents.models import Document, DocumentFile
from plugins.documents.tests.conftest import PASSPORT, attach, names, stored
from tests.factories import UserFactory, add_guest, join
from tests.scoped import script_of
from tests.users.logins import bearer
from trips.roles import TripRole

pytestmark = pytest.mark.either


def shown(client, path):
    answer = client.get(path)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def state(client, path):
    found = shown(client, path)
    return found["count"], found["complete"], names(found["missing"])


def test_each_member_brings_one(api, ask, trip, olga, ed, vera):
    path = ask()
    assert state(api(vera), path) == ("0/3", False, ["Olga Owner", "Ed Editor", "Vera Viewer"])
    made = attach(api(vera), path)
    assert made.status_code == 201
    assert (made.json()["by"]["name"], made.json()["person"]["name"]) == (vera.name, vera.name)
    assert made["Location"] == f"/api/attachments/{made.json()['id']}"
    # A second one of hers counts once.
    attach(api(vera), path)
    assert state(api(olga), path) == ("1/3", False, ["Olga Owner", "Ed Editor"])
    attach(api(ed), path)
    attach(api(olga), path)
    found = shown(api(ed), path)
    assert (found["count"], found["complete"], found["missing"]) == ("3/3", True, [])
    assert (found["wanted"], found["attached"], found["perMember"]) == (3, 3, True)
    assert [file["by"]["id"] for file in found["attachments"]] == [
        vera.pk, vera.pk, ed.pk, olga.pk,
    ]  # fmt: skip


def test_what_is_wanted_follows_the_members(api, ask, trip, olga, vera):
    path = ask()
    attach(api(vera), path)
    guest = add_guest(trip)
    join(trip, UserFactory(name="Late Lea"), TripRole.VIEWER)
    assert state(api(olga), path)[0] == "1/5"
    assert guest.name in state(api(olga), path)[2]
    api(olga).delete(f"/api/trips/{trip.pk}/members/{vera.pk}")
    assert state(api(olga), path)[0] == "0/4"
    assert len(shown(api(olga), path)["attachments"]) == 1


def test_a_number_is_reached_by_files_of_anybody(api, ask, ed, vera):
    path = ask(wanted=2)
    attach(api(vera), path)
    assert state(api(ed), path) == ("1/2", False, [])
    attach(api(vera), path)
    assert state(api(ed), path) == ("2/2", True, [])
    attach(api(ed), path)
    assert state(api(ed), path) == ("3/2", True, [])


def test_files_of_guests_are_attached_for_them(api, ask, trip, ed, vera, sam):
    path, guest = ask(), add_guest(trip)
    assert attach(api(vera), path, userId=guest.pk).status_code == 403
    made = attach(api(ed), path, userId=guest.pk).json()
    assert (made["by"]["name"], made["person"]["name"]) == (ed.name, guest.name)
    assert state(api(ed), path) == ("1/4", False, ["Olga Owner", "Ed Editor", "Vera Viewer"])
    refused = attach(api(ed), path, userId=sam.pk)
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["userId"])
    assert attach(api(ed), path, userId=10**9).status_code == 400
    assert attach(api(ed), path, userId="me").status_code == 400
    assert Attachment.objects.count() == 1


def test_whose_file_it_is_deletes_it_whoever_attached_it(api, ask, olga, ed, vera):
    path = ask()
    hers, his = (attach(api(olga), path, userId=user.pk)["Location"] for user in (vera, ed))
    assert api(vera).delete(his).status_code == 403
    assert [api(user).delete(its).status_code for user, its in ((vera, hers), (ed, his))] == [
        204, 204,
    ]  # fmt: skip
    assert shown(api(olga), path)["attachments"] == []


def test_a_refused_upload_leaves_no_file(api, ask, sam, ed, vera, folder):
    path = ask()
    assert attach(api(sam), path).status_code == 404
    assert attach(api(vera), path, b"MZ\x90\x00 no picture").status_code == 415
    assert attach(api(vera), path, userId=ed.pk).status_code == 403
    api(ed).delete(path)
    assert attach(api(vera), path).status_code == 404
    assert stored(folder) == []


def test_a_document_has_no_more_files_than_it_may(api, documents, ed):
    refused = api(ed).post(documents, {"name": "Visa", "wanted": 1001})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["wanted"])


def test_one_file_is_wanted_unless_somebody_says_otherwise(api, documents, ed):
    made = api(ed).post(documents, {"name": "Insurance"}).json()
    assert made | {"createdBy": None} == {
        "id": made["id"],
        "tripId": made["tripId"],
        "name": "Insurance",
        "dueOn": None,
        "perMember": False,
        "wanted": 1,
        "attached": 0,
        "count": "0/1",
        "complete": False,
        "missing": [],
        "attachments": [],
        "createdBy": None,
    }


def test_a_change_keeps_what_it_does_not_name(api, ask, ed, olga):
    path = ask(dueOn="2030-05-01")
    attach(api(ed), path)
    changed = api(olga).patch(path, {"name": "Visa"}).json()
    assert (changed["name"], changed["count"], changed["dueOn"]) == ("Visa", "1/3", "2030-05-01")
    assert api(olga).patch(path, {"wanted": 1}).json()["complete"] is True
    assert api(olga).patch(path, {"wanted": "members", "dueOn": None}).json()["count"] == "1/3"


def test_an_answer_can_be_sent_back(api, ask, ed):
    """One of each member stays wanted; another number takes its place."""
    path = ask()
    found = api(ed).get(path).json()
    answer = api(ed).patch(path, found)
    assert (answer.status_code, answer.json()) == (200, found)
    assert api(ed).patch(path, {**found, "wanted": 2}).json()["perMember"] is False


def test_as_many_files_may_be_wanted_as_there_are_members(api, ask, trip, ed, sam):
    path = ask()
    number = api(ed).get(path).json()["wanted"]
    assert api(ed).patch(path, {"wanted": number}).json()["perMember"] is False
    join(trip, sam, TripRole.VIEWER)
    assert api(ed).get(path).json()["wanted"] == number


def test_the_list_is_in_the_order_of_due_dates(api, ask, documents, ed):
    ask(name="never")
    ask(name="late", dueOn="2030-05-02")
    ask(name="soon", dueOn="2030-05-01")
    items = shown(api(ed), documents)["items"]
    assert [item["name"] for item in items] == ["soon", "late", "never"]


def test_a_deleted_document_comes_back_with_its_files(api, ask, documents, ed, vera):
    path = ask()
    file = attach(api(vera), path).json()
    assert api(ed).delete(path).status_code == 204
    for gone in (path, file["url"], f"/api/attachments/{file['id']}"):
        assert api(vera).get(gone).status_code == 404
    assert shown(api(ed), documents)["items"] == []
    [item] = shown(api(ed), f"{documents}?deleted=true")["items"]
    assert item["count"] == "1/3"
    assert api(ed).post(f"{path}/restore").json()["count"] == "1/3"
    assert api(vera).get(file["url"]).content == PDF
    refused = api(ed).post(f"{path}/restore")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_restorable")


def test_files_of_a_document_are_downloads_of_the_members(api, ask, trip, olga, vera, sam):
    file = attach(api(vera), ask()).json()
    answer = api(olga).get(file["url"])
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox")
    assert api(sam).get(file["url"]).status_code == 404
    # It belongs to the document and not to the trip as a whole.
    assert shown(api(olga), f"/api/trips/{trip.pk}/attachments")["items"] == []
    assert api(olga).delete(f"/api/attachments/{file['id']}").status_code == 204
    assert not DocumentFile.objects.exists()


def test_a_refused_picture_does_not_count(api, ask, ed, vera):
    path = ask()
    attach(api(vera), path)
    Attachment.objects.update(state="refused", file="")
    assert state(api(ed), path)[0] == "0/3"


def test_a_token_needs_the_scope_of_documents_for_their_files(api, ask, vera):
    file = attach(api(vera), ask()).json()
    for scopes, status in (
        (["expenses:read"], 403),
        (["documents:read"], 403),
        (["expenses:read", "documents:read"], 200),
    ):
        client = bearer(script_of(vera, *scopes).token)
        answers = {client.get(where).status_code for where in (file["url"], f"{made_at(file)}")}
        assert answers == {status}
    client = bearer(script_of(vera, "expenses:write", "documents:read").token)
    assert client.delete(made_at(file)).status_code == 403
    client = bearer(script_of(vera, "expenses:write", "documents:write").token)
    assert client.delete(made_at(file)).status_code == 204


def made_at(file):
    return f"/api/attachments/{file['id']}"


def test_a_trip_has_room_for_so_many_documents(api, ask, documents, trip, ed):
    path = ask()
    api(ed).delete(path)
    Document.objects.bulk_create(
        Document(trip=trip, created_by=ed, name="x") for _number in range(Document.limit)
    )
    for answer in (api(ed).post(documents, PASSPORT), api(ed).post(f"{path}/restore")):
        assert (answer.status_code, answer.json()["code"]) == (409, "limit_reached")


def test_files_end_with_their_document(api, ask, ed, vera, folder):
    path = ask()
    attach(api(vera), path)
    api(ed).delete(path)
    Document.objects.update(deleted_at=timezone.now() - timezone.timedelta(days=31))
    call_command("prune")
    call_command("prune")
    assert not Document.objects.exists()
    assert not Attachment.objects.exists()
