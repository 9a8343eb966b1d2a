"""Uploads to the production server: long bodies are on a disk, and a worker does not grow."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from plugins.attachments.tests.pictures import PDF
from tests.server import running_server
from tests.splits.journey import Journey, sign_up

pytestmark = [pytest.mark.once, pytest.mark.slow]

MEBIBYTE = 1024 * 1024
AT_ONCE, ROUNDS = 16, 3
WHOLE = PDF.ljust(10 * MEBIBYTE, b"\n")


@pytest.fixture(scope="module")
def server():
    with running_server(WEB_CONCURRENCY="1", THROTTLE_UPLOAD="") as server:
        yield server


def memory_mib(process):
    return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MEBIBYTE


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="/proc tells the memory")
def test_many_uploads_at_once_take_little_memory(server, http):
    [worker] = server.workers()
    owner = sign_up(http)
    path = f"{server.url}/api{Journey.start(owner).path}/attachments"
    headers = owner.headers

    def upload(number):
        files = {"file": (f"{number}.pdf", WHOLE)}
        return httpx.post(path, files=files, headers=headers, timeout=60).status_code

    assert upload(0) == 201
    before = memory_mib(worker)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        statuses = list(threads.map(upload, range(AT_ONCE * ROUNDS)))
    # 503: its turn for a connection to the database did not come in time.
    assert set(statuses) <= {201, 503}
    assert statuses.count(201) > ROUNDS
    assert memory_mib(worker) - before < 30
    [first] = httpx.get(path, params={"pageSize": 1}, headers=headers).json()["items"]
    assert httpx.get(f"{server.url}{first['url']}", headers=headers).content == WHOLE


def test_a_form_in_chunks_is_read(server, http):
    owner = sign_up(http)
    path = f"/api{Journey.start(owner).path}/attachments"
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
    form = head + PDF.ljust(2 * MEBIBYTE, b"\n") + b"\r\n--x--\r\n"
    headers = {**owner.headers, "Content-Type": "multipart/form-data; boundary=x"}
    pieces = (form[first : first + 65_536] for first in range(0, len(form), 65_536))
    answer = http.post(path, content=pieces, headers=headers)
    assert (answer.status_code, answer.json()["bytes"]) == (201, 2 * MEBIBYTE)
