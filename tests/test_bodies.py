"""Bodies that are too long are refused before they are read; chunks have an end of every kind."""

import json
import os
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.server import running_server
from tests.wire import Wire

pytestmark = pytest.mark.once

MEBIBYTE = 1024 * 1024
JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"
PIECE = b" " * 65536
#: What a client may send after the answer, and more.
ENDLESS_BYTES = 200 * MEBIBYTE
UPLOADS = 60
PATHS = (
    *("POST /api/users/login", "POST /api/trips", "POST /admin/login/", "POST /api/session/login"),
    *("GET /api/health", "DELETE /api/users/me", "PUT /api/nothing"),
)
HIDDEN = b"DELETE /api/users/me HTTP/1.1\r\nHost: localhost\r\n\r\n"


def is_refused(wire, status, code):
    """There is one answer, a problem, and the connection ends with it."""
    head, body = wire.answer()
    problem = json.loads(body)
    assert (head.status, problem["status"], problem["code"]) == (status, status, code)
    assert problem["requestId"] == head.fields["x-request-id"]
    assert head.fields["content-type"] == "application/problem+json"
    assert head.ends_the_connection
    assert wire.rest() == b""


@pytest.mark.parametrize("line", PATHS)
def test_a_long_body_is_refused_by_its_length(server, line):
    """T139: A body that is too long is refused by its length, before it is read."""
    for length in (MEBIBYTE + 1, 9_000_000, 10**18, 10**400):
        with Wire.to(server.url) as wire:
            wire.send(line, JSON, f"Content-Length: {length}")
            is_refused(wire, 413, "payload_too_large")


def test_a_length_that_is_no_number_of_bytes_is_a_bad_request(server):
    for target, length in (("/api/trips", "9" * 5000), ("http://[/api/trips", "2")):
        with Wire.to(server.url) as wire:
            wire.send(f"POST {target}", f"Content-Length: {length}", body=b"{}")
            head, body = wire.answer()
            assert (head.status, json.loads(body)["code"]) == (400, "bad_request")


def test_a_body_in_chunks_is_read(server):
    account = b'{"email": "nobody@example.com", "password": "wrong-password"}'
    chunks = b"".join(b"%x;a=b\r\n%b\r\n" % (1, account[at : at + 1]) for at in range(len(account)))
    with Wire.to(server.url) as wire:
        for fields in ((CHUNKED,), ("transfer-encoding: Chunked",)):
            body = chunks + b"0\r\nX-Trailer: 1\r\n\r\n"
            wire.send("POST /api/users/login", JSON, *fields, body=body)
            assert wire.answer()[0].status == 401


@pytest.mark.parametrize(
    ("endless", "status"),
    [(b"5" * 100_000, 400), (b"5;" + b"x" * 100_000, 400), (b"0\r\nX: " + b"x" * 1_000_000, 431)],
    ids=["line", "extension", "trailer"],
)
def test_a_chunk_line_and_a_trailer_have_an_end(server, endless, status):
    with Wire.to(server.url) as wire:
        wire.send("POST /api/users/login", JSON, CHUNKED, body=endless)
        head, body = wire.answer()
    assert (head.status, json.loads(body)["status"]) == (status, status)
    assert head.ends_the_connection


@pytest.mark.parametrize("size", [b"100000", b"10"])
def test_chunks_are_a_mebibyte_together(server, size):
    chunk = size + b"\r\n" + b" " * int(size, 16) + b"\r\n"
    with Wire.to(server.url) as wire:
        wire.send("POST /api/users/login", JSON, CHUNKED, "Origin: http://localhost:4200")
        wire.socket.sendall(chunk * (MEBIBYTE // int(size, 16) + 1) + b"0\r\n\r\n")
        head, body = wire.answer()
    assert (head.status, json.loads(body)["code"]) == (413, "payload_too_large")
    assert head.fields["access-control-allow-origin"] == "http://localhost:4200"


@pytest.mark.parametrize("line", PATHS)
def test_an_encoding_that_is_not_known_is_refused(server, line):
    with Wire.to(server.url) as wire:
        wire.send(line, JSON, "Transfer-Encoding:")
        is_refused(wire, 501, "not_implemented")
    with Wire.to(server.url) as wire:
        wire.socket.sendall(f"{line} HTTP/1.0\r\nHost: localhost\r\n{CHUNKED}\r\n\r\n".encode())
        is_refused(wire, 400, "bad_request")


@pytest.mark.parametrize(
    ("field", "status", "code"),
    [
        ("Transfer-Encoding:", 501, "not_implemented"),
        ("Content-Length: 2000000", 413, "payload_too_large"),
    ],
)
def test_what_follows_a_refused_head_is_no_request(server, field, status, code):
    for body in (HIDDEN, b"0\r\n\r\n" + HIDDEN, b"5;x=y\r\nabcde\r\n0\r\n\r\n" + HIDDEN):
        with Wire.to(server.url) as wire:
            wire.send("POST /api/users/login", JSON, field, body=body)
            is_refused(wire, status, code)


def test_who_waits_to_be_asked_for_a_refused_body_gets_the_refusal(server):
    with Wire.to(server.url) as wire:
        wire.send("POST /api/users/login", JSON, "Expect: 100-continue", "Content-Length: 2000000")
        assert wire.head().status == 100
        is_refused(wire, 413, "payload_too_large")


def test_a_body_whose_client_hangs_up_is_not_taken_for_whole(server):
    account = b'{"email": "nobody@example.com", "password": "wrong-password"}'
    with Wire.to(server.url) as wire:
        length = f"Content-Length: {len(account) + 10}"
        wire.send("POST /api/users/login", JSON, length, body=account)
        wire.socket.shutdown(socket.SHUT_WR)
        assert wire.rest() == b""


def test_a_body_of_a_mebibyte_is_read(server):
    body = b'{"title": "Lisbon"}'.ljust(MEBIBYTE)
    with Wire.to(server.url) as wire:
        for _time in range(2):
            wire.send("POST /api/trips", JSON, f"Content-Length: {len(body)}", body=body)
            assert wire.answer()[0].status == 401


def test_other_origins_that_are_allowed_may_read_the_refusal(server):
    for origin, allowed in (("http://localhost:4200", True), ("http://evil.example", False)):
        with Wire.to(server.url) as wire:
            wire.send("POST /api/trips", JSON, "Content-Length: 2000000", f"Origin: {origin}")
            head, _body = wire.answer()
        assert head.status == 413
        assert head.fields.get("access-control-allow-origin") == (origin if allowed else None)


def test_a_client_that_is_still_sending_can_read_the_refusal(server):
    for field in ("Content-Length: 20971520", "Transfer-Encoding:", "X-Long: " + "x" * 40_000):
        with Wire.to(server.url) as wire:
            wire.send("POST /api/users/login", JSON, field)
            for _piece in range(20 * MEBIBYTE // len(PIECE)):
                wire.socket.sendall(PIECE)
            head, _body = wire.answer()
            assert head.status in {413, 431, 501}
            assert wire.rest() == b""


def test_a_client_that_never_ends_is_cut_off(server):
    with Wire.to(server.url, timeout_seconds=60) as wire:
        wire.send("POST /api/users/login", JSON, CHUNKED, body=b"5;")
        sent = 0
        with suppress(ConnectionError):
            while sent < ENDLESS_BYTES:
                sent += wire.socket.send(PIECE)
        assert 0 < sent < ENDLESS_BYTES


@pytest.mark.slow
def test_a_client_that_drips_on_is_cut_off(server):
    with Wire.to(server.url) as wire:
        wire.send("POST /api/users/login", JSON, "Content-Length: 2000000")
        is_refused(wire, 413, "payload_too_large")
        drops = 0
        with suppress(ConnectionError):
            while drops < 100:
                wire.socket.sendall(b"x")
                drops += 1
                time.sleep(0.2)
        assert drops < 100


@pytest.fixture
def one_process():
    with running_server(WEB_CONCURRENCY="1") as server:
        yield server


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc tells what a process holds")
def test_idle_uploads_hold_little_in_memory_and_on_disk(one_process):
    [worker] = one_process.workers()
    before = held_bytes(worker)
    with ExitStack() as stack:
        for length in (8_000_000, MEBIBYTE):
            for _upload in range(UPLOADS):
                wire = stack.enter_context(Wire.to(one_process.url))
                wire.send("POST /api/users/login", JSON, f"Content-Length: {length}")
                with suppress(ConnectionError):
                    wire.socket.sendall(b" " * (length - 1))
        time.sleep(1)
        assert held_bytes(worker) - before < 1.5 * UPLOADS * MEBIBYTE


def held_bytes(process):
    """What the process holds in memory, and in the files that it has made and deleted."""
    pages = int((process / "statm").read_text().split()[1])
    held = pages * os.sysconf("SC_PAGE_SIZE")
    for opened in (process / "fd").iterdir():
        with suppress(FileNotFoundError):
            status = opened.stat()
            held += status.st_size if status.st_nlink == 0 else 0
    return held
