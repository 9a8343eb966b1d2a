"""Files and reminders in the same instant, against the real server and with two workers."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.utils import timezone

from plugins.attachments.tests.conftest import stored
from plugins.attachments.tests.pictures import PDF
from tests.server import running_server
from tests.splits.journey import Journey, answers_at_once

ROUNDS, ROOM = 4, 5
FILES = """
from plugins.attachments.models import Attachment
from plugins.documents.models import DocumentFile
links = {row.attachment_id for row in DocumentFile.objects.all()}
print(*(row.file for row in Attachment.objects.all() if row.pk in links))
"""
WANT = """
from django.utils import timezone
from users.models import User
User.objects.update(notice_mode="each", notice_events="document.due",
                    email_verified_at=timezone.now())
"""
MAILS = 'from users.models import Mail; print(Mail.objects.filter(letter="DOCUMENT_DUE").count())'


@pytest.fixture
def server(tmp_path):
    limits = {"THROTTLE_UPLOAD": "", "QUOTA_ATTACHMENTS": str(ROOM)}
    with running_server(ATTACHMENTS_STORE=str(tmp_path / "files"), **limits) as running:
        yield running


@pytest.fixture
def http(server):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture
def documents(travellers):
    journey = Journey.start(travellers[0])
    for traveller in travellers[1:]:
        journey.admit(traveller, "VIEWER")
    return f"/trips/{journey.id}/documents"


def upload(by, path):
    files: Any = {"file": ("me.pdf", PDF)}
    return by.http.post(f"/api{path}/attachments", files=files, headers=by.headers)


def shell(server, code):
    return server.manage("shell", "--verbosity", "0", "--command", code).stdout.split()


def kept(folder):
    return sorted(str(file.relative_to(folder)) for file in stored(folder))


def ask(owner, documents, **fields):
    body = {"name": "Passport", "wanted": "members", **fields}
    return f"{documents}/{owner.done('POST', documents, body)['id']}"


def test_no_more_files_than_the_trip_has_room_for(server, travellers, documents, tmp_path):
    path = ask(travellers[0], documents)
    calls = [partial(upload, by, path) for by in travellers for _twice in range(2)]
    answers = answers_at_once(calls)
    made = [answer for answer in answers if answer.status_code == 201]
    codes = {answer.json()["code"] for answer in answers if answer.status_code != 201}
    assert (len(made), codes) == (ROOM, {"quota_exceeded"})
    assert len(travellers[0].done("GET", path)["attachments"]) == ROOM
    assert sorted(shell(server, FILES)) == kept(tmp_path / "files")


def test_a_file_is_attached_before_its_document_is_deleted_or_not_at_all(
    server, travellers, documents, tmp_path
):
    owner, *others = travellers
    for _round in range(ROUNDS):
        path = ask(owner, documents)
        calls = [partial(upload, by, path) for by in others]
        *files, gone = answers_at_once([*calls, partial(owner.call, "DELETE", path)])
        assert gone.status_code == 204
        assert {answer.status_code for answer in files} <= {201, 404, 409}
        assert owner.call("GET", path).status_code == 404
        restored = owner.done("POST", f"{path}/restore")
        made = sum(answer.status_code == 201 for answer in files)
        assert len(restored["attachments"]) == restored["attached"] == made
        for file in restored["attachments"]:
            assert owner.call("DELETE", f"/attachments/{file['id']}").status_code == 204
    assert shell(server, FILES) == kept(tmp_path / "files") == []


def test_two_workers_remind_each_person_once(server, travellers, documents):
    shell(server, WANT)
    ask(travellers[0], documents, dueOn=(timezone.now().date() + timedelta(days=1)).isoformat())
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(server.manage, ["remind_documents"] * 2))
    assert shell(server, MAILS) == [str(len(travellers))]
