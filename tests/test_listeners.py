"""A server that listens on several addresses guards each of them, and stops on each with grace."""

import json
import os
import signal
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import pytest

from tests.server import Server, free_port, running_server
from tests.wire import Wire

pytestmark = pytest.mark.once

KINDS = ("IPv4", "another IPv4", "IPv6", "unix")


class Listening(NamedTuple):
    server: Server
    addresses: dict[str, str]


@contextmanager
def listening(folder):
    ports = [free_port() for _bind in range(3)]
    others = (f"127.0.0.1:{ports[1]}", f"[::1]:{ports[2]}", f"unix:{folder / 'server.socket'}")
    with running_server(ports[0], others) as server:
        yield Listening(server, dict(zip(KINDS, (server.url, *others), strict=True)))


@pytest.fixture(scope="module")
def listeners(tmp_path_factory):
    with listening(tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.mark.parametrize("kind", KINDS)
def test_a_hidden_request_is_refused_on_every_listener(listeners, kind):
    hidden = b"0\r\n\r\nGET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    lengths = ("Transfer-Encoding: chunked", f"Content-Length: {len(hidden)}")
    with Wire.to(listeners.addresses[kind]) as wire:
        wire.send("POST /api/users/login", *lengths, body=hidden)
        head, body = wire.answer()
        assert (head.status, wire.rest()) == (400, b"")
    assert head.fields["content-type"] == "application/problem+json"
    assert json.loads(body)["code"] == "bad_request"


@pytest.mark.parametrize("kind", KINDS)
def test_every_listener_answers_head_and_refuses_long_bodies(listeners, kind):
    """T132: HEAD has no body, and every listener has every guard."""
    with Wire.to(listeners.addresses[kind]) as wire:
        wire.send("HEAD /api/users/me")
        assert wire.head().status == 401
        wire.send("GET /api/health")
        assert wire.answer()[0].status == 200
        wire.send("POST /api/users/login", "Content-Length: 9000000")
        head, body = wire.answer()
        assert (head.status, json.loads(body)["code"]) == (413, "payload_too_large")
        assert wire.rest() == b""


@pytest.mark.slow
def test_every_listener_answers_its_open_connections_at_the_end(tmp_path):
    with ExitStack() as stack:
        server, addresses = stack.enter_context(listening(tmp_path))
        wires = [stack.enter_context(Wire.to(address)) for address in addresses.values()]
        for wire in wires:
            wire.send("GET /api/health")
            assert not wire.answer()[0].ends_the_connection
        os.kill(server.pid, signal.SIGTERM)
        for wire in wires:
            # From the moment on that the worker stops.
            while not (head := _asked(wire)).ends_the_connection:
                pass
            assert head.status == 200
            assert wire.rest() == b""


def _asked(wire):
    wire.send("GET /api/health")
    return wire.answer()[0]
