"""What the tests that walk all apps need to know of documents; see `tests/walked.py`."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from plugins.attachments.models import Attachment
from plugins.documents.models import Document, DocumentFile
from plugins.documents.rights import CanDocument
from plugins.documents.views import DocumentAttachmentViewSet, DocumentViewSet
from tests.factories import acting_as_owner
from tests.trips.access import PROMISED as CORE
from tests.trips.access import TRIP, Row, just
from trips.roles import Can

PASSPORT = {"name": "Passport", "wanted": "members"}
DOCUMENTS = f"{TRIP}/documents"
DOCUMENT = f"{DOCUMENTS}/{{document_id}}"
FILES = f"{DOCUMENT}/attachments"
FORM = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("a.pdf", b"%PDF-1.7\n")})
#: What an attachment needs besides trip and uploader.
FILE = {"name": "a.pdf", "type": "application/pdf", "size_bytes": 1, "file": "-"}


def form(_scene: Any) -> bytes:
    return FORM


ROWS = [
    Row("GET", DOCUMENTS, can=Can.READ),
    Row("POST", DOCUMENTS, 201, CanDocument.CREATE, just(**PASSPORT)),
    Row("GET", DOCUMENT, can=Can.READ),
    Row("PATCH", DOCUMENT, 200, CanDocument.CHANGE, just(name="Visa")),
    Row("DELETE", DOCUMENT, 204, CanDocument.CHANGE),
    Row("POST", f"{DOCUMENT}/restore", 200, CanDocument.CHANGE),
    Row("POST", FILES, 201, CanDocument.ATTACH, form),
]
PROMISED = {
    CanDocument.CREATE: CORE[Can.RECORD],
    CanDocument.CHANGE: CORE[Can.CHANGE_EXPENSES],
    CanDocument.ATTACH: CORE[Can.READ],
    CanDocument.ATTACH_FOR: CORE[Can.RECORD],
}
SCOPES_OF = dict.fromkeys(CanDocument, "documents:write")
AREAS = {DocumentViewSet: "documents", DocumentAttachmentViewSet: "documents"}
WRITTEN = {
    f"POST {DOCUMENTS}": ["document.created"],
    f"PATCH {DOCUMENT}": ["document.changed"],
    f"DELETE {DOCUMENT}": ["document.deleted"],
    f"POST {DOCUMENT}/restore": ["document.restored"],
    f"POST {FILES}": ["document.changed"],
}
QUERIES = {DOCUMENTS: 6, DOCUMENT: 5}
LISTS = {DOCUMENTS}
RESTORABLE = ["documents"]
LARGE_BODIES = ["/api/trips/1/documents/1/attachments"]
LOCKS = ["plugins/due.py"]
#: What is the same in the Spanish admin site.
DATA = ["Passport", r"document\.[a-z]+"]
#: It sends a form; see `test_documents.py`.
WAIT_ELSEWHERE = {("POST", FILES)}
COMMANDS = [
    (CanDocument.CREATE, "POST", DOCUMENTS, lambda _s: PASSPORT, False, False),
    (CanDocument.CHANGE, "PATCH", DOCUMENT, lambda _s: {"name": "Visa"}, False, False),
    (CanDocument.CHANGE, "DELETE", DOCUMENT, None, False, False),
    (CanDocument.CHANGE, "POST", f"{DOCUMENT}/restore", None, False, False),
]
OWNED_TABLES = ["documents_document"]
PRUNED = ["deleted documents", "files of deleted documents"]
ENDS = [("documents_document", "deleted_at")]
VIOLATIONS = [("document_wanted_positive", "document", {"wanted": 0})]


def ids(scene: Any, names: list[str]) -> dict[str, int]:
    """A document of the holder: deleted if it is to be restored."""
    if "document_id" not in names:
        return {}
    with acting_as_owner(scene.trip, scene.holder):
        document = Document.add(scene.trip, scene.holder, name="Passport", wanted=None)
        if scene.route.endswith("/restore"):
            document.remove(scene.holder)
    return {"document_id": document.pk}


def waiting_ids(scene: Any, names: list[str], _by: Any, _can: Any) -> dict[str, int]:
    """The same of Ed's, over HTTP."""
    if "document_id" not in names:
        return {}
    return {"document_id": scene.ed.done("POST", f"{scene.trip.path}/documents", PASSPORT)["id"]}


def fill_world(world: Any) -> None:
    path, one = "/api/trips/{tripId}/documents", "/api/trips/{tripId}/documents/{documentId}"
    made = world.made(f"/api/trips/{world.ids['tripId']}/documents", PASSPORT)
    world.ids["documentId"] = made["id"]
    whole = {"name": "Insurance", "wanted": 2, "dueOn": "2030-05-01"}
    world.bodies |= {f"POST {path}": [whole, PASSPORT], f"PATCH {one}": [whole]}


def _file(document: Document, by: Any) -> Attachment:
    file = Attachment.objects.create(
        trip=document.trip, created_by=by, parent_type="document", state="ready", **FILE
    )
    DocumentFile.objects.create(trip=document.trip, document=document, attachment=file, person=by)
    return file


def many(trip: Any, _olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    for user in people:
        document = Document.objects.create(trip=trip, created_by=user, name="Visa", wanted=None)
        for person in people[:3]:
            _file(document, person)
    for person in people[3:]:
        _file(document, person)
    return {"document_id": document.pk}


def one_of_each(trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    Document.objects.create(trip=trip, created_by=olga, name="Passport", due_on="2030-05-01")


def lengthen(text: str) -> None:
    Document.objects.update(name=text[:100])


def constrained(trip: Any, olga: Any) -> dict[str, Any]:
    document = Document.objects.create(trip=trip, created_by=olga, name="Passport")
    return {"document": Document.objects.filter(pk=document.pk)}


def want(history: Any, which: int) -> None:
    """A document of everybody, or as many as this."""
    body = {"name": f"Copy {which}", "wanted": which or "members", "dueOn": "2030-05-01"}
    assert history.send("post", "documents", body).status_code == 201


def bring(history: Any, which: int) -> None:
    """The owner or an editor attaches a file."""
    if document := history.pick("documents", which):
        client = history.ledger.client(history.accounts[which % 2])
        path = f"{history.ledger.url}/documents/{document['id']}/attachments"
        assert client.post(path, FORM, content_type=MULTIPART_CONTENT).status_code == 201


STEPS = [want, bring]
