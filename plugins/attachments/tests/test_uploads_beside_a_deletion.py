"""A thousand uploads to the real server, while the expense of many of them is deleted."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from itertools import count
from typing import Any

import httpx
import pytest

from plugins.attachments.tests.conftest import stored
from plugins.attachments.tests.pictures import PDF
from tests.server import running_server
from tests.splits.journey import Journey, sign_up

pytestmark = pytest.mark.slow

UPLOADS, AT_ONCE = 1000, 8
#: The expense is deleted after so many uploads; the trip has room for fewer than are sent.
BEFORE, ROOM = 150, 600
NAMES = """
from plugins.attachments.models import Attachment
print(*Attachment.objects.values_list("file", flat=True))
"""


@pytest.fixture
def server(tmp_path):
    limits = {"THROTTLE_UPLOAD": "", "QUOTA_ATTACHMENTS": str(ROOM)}
    store = str(tmp_path / "files")
    with running_server(ATTACHMENTS_STORE=store, LOG_LEVEL="ERROR", **limits) as running:
        yield running


def patient(ask):
    """Ask again after a 503: its turn for a connection, or to write, did not come in time."""
    for _again in range(5):
        answer = ask()
        if answer.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
            break
    return answer


def files_and_rows(server, folder):
    """The stored files, and those that rows name."""
    files = [str(file.relative_to(folder)) for file in stored(folder)]
    shown = server.manage("shell", "--verbosity", "0", "--command", NAMES).stdout
    return sorted(files), sorted(shown.split())


def test_a_thousand_uploads_beside_a_deletion_leave_no_file_and_no_row_alone(server, tmp_path):
    folder, started = tmp_path / "files", count()
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        owner, editor = sign_up(http), sign_up(http)
        journey = Journey.start(owner)
        journey.admit(editor)
        deleted, kept = (journey.spend(10, owner, editor)["id"] for _expense in range(2))
        paths = [f"/expenses/{deleted}", f"/expenses/{kept}", journey.path]

        def upload(number):
            if next(started) == BEFORE:
                ended = patient(lambda: owner.call("DELETE", f"{journey.path}/expenses/{deleted}"))
                assert ended.status_code == HTTPStatus.NO_CONTENT
            by, path = (owner, editor)[number % 2], f"/api{paths[number % 3]}/attachments"
            files: Any = {"file": (f"{number}.pdf", PDF)}
            answer = patient(lambda: http.post(path, files=files, headers=by.headers))
            is_made = answer.status_code == HTTPStatus.CREATED
            return answer.status_code, "" if is_made else answer.json()["code"]

        with ThreadPoolExecutor(AT_ONCE) as threads:
            answers = Counter(threads.map(upload, range(UPLOADS)))
        made = answers[201, ""]
        assert answers.keys() == {(201, ""), (404, "not_found"), (409, "quota_exceeded")}, answers

        files, rows = files_and_rows(server, folder)
        assert files == rows
        assert len(rows) == made == ROOM
        # As if they had been stored days ago.
        for file in stored(folder):
            os.utime(file, (0, 0))
        server.manage("prune")
        assert files_and_rows(server, folder) == (files, rows)

        owner.done("POST", f"{journey.path}/expenses/{deleted}/restore")
        listed = [owner.done("GET", f"{path}/attachments?pageSize=1")["total"] for path in paths]
        assert sum(listed) == made
