"""Files in a bucket of a service that speaks as S3 does."""

import socket
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from django.core.management import call_command

from plugins.attachments.models import Attachment
from plugins.attachments.processing import process
from plugins.attachments.settings import file_store
from plugins.attachments.tests.pictures import PDF, picture, send

pytest.importorskip("storages")

Objects = dict[str, tuple[bytes, datetime]]


class Handler(BaseHTTPRequestHandler):
    """The few requests of S3 that the service sends."""

    server: Any

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    @property
    def key(self):
        return urlsplit(self.path).path.removeprefix("/receipts/")

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding", "").startswith("aws-chunked"):
            size, _line, rest = body.partition(b"\r\n")
            body = rest[: int(size, 16)]
        self.server.objects[self.key] = body, datetime.now(UTC)
        self.answer(200, ETag='"x"')

    def do_GET(self):
        query = parse_qs(urlsplit(self.path).query)
        if "list-type" in query or self.key in {"receipts", "/receipts", ""}:
            names = [name for name in self.server.objects if name.startswith(query["prefix"][0])]
            rows = "".join(f"<Contents><Key>{name}</Key></Contents>" for name in names)
            listed = f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>"
            self.answer(200, listed.encode(), Content_Type="application/xml")
        elif self.key in self.server.objects:
            body, at = self.server.objects[self.key]
            when = at.strftime("%a, %d %b %Y %H:%M:%S GMT")
            self.answer(200, body, Last_Modified=when, ETag='"x"')
        else:
            self.answer(404)

    def do_HEAD(self):
        self.do_GET()

    def do_DELETE(self):
        self.server.objects.pop(self.key, None)
        self.answer(204)

    def log_message(self, *_args):
        """Say nothing."""


@pytest.fixture
def bucket(settings, monkeypatch):
    """A server with a bucket, in which the service stores its files."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.objects = Objects()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    _use(settings, monkeypatch, server.server_port)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _use(settings, monkeypatch, port):
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "STORE": f"s3://receipts/files?region=eu-central-1&endpoint=http://127.0.0.1:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    settings.STORAGES = {**settings.STORAGES, "attachments": file_store("STORE", Path("/"))}


@pytest.mark.slow
def test_a_bucket_keeps_files_and_signed_links_show_them(bucket, attach, api, olga):
    made = attach(picture(size=(600, 900)))
    assert [name[:6] for name in bucket.objects] == ["files/"]
    assert process()
    row = Attachment.objects.get()
    assert sorted(bucket.objects) == sorted([f"files/{row.file}", f"files/{row.thumbnail}"])
    answer = api(olga).get(made["url"])
    assert answer.status_code == 302
    link = answer["Location"]
    signed = parse_qs(urlsplit(link).query)
    assert signed["X-Amz-Expires"] == ["60"]
    assert signed["response-content-disposition"] == ['attachment; filename="taxi.jpg"']
    assert signed["response-content-type"] == ["image/jpeg"]
    with urlopen(link) as download:  # noqa: S310 -- the server above
        assert len(download.read()) == row.size_bytes


def test_a_bucket_is_swept(bucket, attach):
    attach(PDF)
    [kept] = bucket.objects
    old = datetime.now(UTC) - timedelta(days=2)
    bucket.objects[kept] = PDF, old
    bucket.objects["files/00/old"] = b"x", old
    bucket.objects["files/00/new"] = b"x", datetime.now(UTC)
    call_command("prune")
    assert sorted(bucket.objects) == sorted([kept, "files/00/new"])


def test_without_the_bucket_an_upload_is_a_503(settings, monkeypatch, api, olga, dinner):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    _use(settings, monkeypatch, port)
    answer = send(api(olga), f"/api/expenses/{dinner.pk}/attachments", PDF)
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
    assert not Attachment.objects.exists()
